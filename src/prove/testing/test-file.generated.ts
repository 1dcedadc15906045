// Made from schema/gateway-test.schema.json by `npm run generate`. Do not edit.
export type HeaderValue = (string | string[])

/**
 * Test cases for a manifest: requests and their expected results. `signing-gateway test` runs them offline. Version 1 of the language.
 */
export interface TestFile {
/**
 * The version of the test language.
 */
version: 1
/**
 * The manifest to test, by a path relative to this file.
 */
manifest: string
/**
 * The environment variables for the manifest. It does not see those of the process.
 */
environment: {
[k: string]: string
}
/**
 * The tokens in request headers and login responses, by their text, and how they verify. All other tokens are invalid.
 */
tokens: {
[k: string]: TestToken
}
/**
 * The test cases.
 * 
 * @minItems 1
 */
cases: TestCase[]
}
export interface TestToken {
/**
 * The name of the method of `auth.tokens` that verifies the token. By default the first one that allows the role.
 */
issuer?: string
/**
 * The token is valid and has this role.
 */
role?: string
/**
 * The token is valid and has these claims.
 */
claims?: {

}
/**
 * The token is invalid, for this reason.
 */
error?: ("token_malformed" | "token_inactive" | "token_expired" | "token_not_yet_valid" | "type_wrong" | "issuer_wrong" | "audience_wrong" | "algorithm_not_allowed" | "key_unknown" | "signature_wrong" | "claims_wrong" | "keys_unavailable")
}
export interface TestCase {
/**
 * The name of the case in reports.
 */
name: string
request: CaseRequest
response?: CaseResponse
expect: Expectation
}
/**
 * The request.
 */
export interface CaseRequest {
/**
 * The method, sent unchanged. A list makes one case of each method.
 */
method: (string | string[])
/**
 * Path and query, sent unchanged. A list makes one case of each request target.
 */
url: (string | string[])
headers: CaseHeaders
/**
 * The role of the caller, who sends a valid token. A list makes one case of each role.
 */
role?: (string | string[])
/**
 * The name of the method of `auth.tokens` that verifies the token of the caller. By default the first one that allows the role.
 */
issuer?: string
/**
 * The claims of the caller, who sends a valid token.
 */
claims?: {

}
/**
 * The body: a string as it is; a map or a list as JSON, with its Content-Type unless `headers` sets one.
 */
body?: (string | {

} | unknown[])
/**
 * The size in bytes of a body that consists of spaces, in place of `body`.
 */
bodyBytes?: number
/**
 * The number of times that the request is sent, one after the other, to test rate limits. The expectation is of the last time.
 */
times: number
/**
 * The time that passes before the last request, for rate limits. No time passes between the others.
 */
wait?: string
}
/**
 * The request headers. Several values of one header are a list.
 */
export interface CaseHeaders {
[k: string]: HeaderValue
}
/**
 * The response of the upstream. By default 200 without a body.
 */
export interface CaseResponse {
/**
 * The status.
 */
status: number
headers: CaseHeaders1
/**
 * The body, as in `request`.
 */
body?: (string | {

} | unknown[])
}
/**
 * The response headers. Several values of one header are a list.
 */
export interface CaseHeaders1 {
[k: string]: HeaderValue
}
/**
 * The expected result. Members that are not set are not checked, except `refusal`.
 */
export interface Expectation {
/**
 * The code of the expected refusal; see docs/errors.md. By default the gateway must not refuse the request.
 */
refusal?: ("message_malformed" | "path_ambiguous" | "parameter_invalid" | "body_invalid" | "token_missing" | "token_invalid" | "origin_not_allowed" | "claim_unusable" | "role_not_allowed" | "route_unknown" | "method_not_allowed" | "request_timeout" | "body_too_large" | "media_type_unsupported" | "expectation_failed" | "websocket_version_unsupported" | "rate_limit_key_missing" | "rate_limit_exceeded" | "headers_too_large" | "internal_error" | "upstream_unreachable" | "upstream_error" | "login_response_refused" | "gateway_busy" | "rate_limit_unavailable" | "upstream_unavailable" | "upstream_busy" | "keys_unavailable" | "upstream_timeout" | "loop_detected")
/**
 * The codes that are reported instead of refused, in any order, for a route or a rate limit in `report` mode.
 */
reported?: ("parameter_invalid" | "body_invalid" | "media_type_unsupported" | "rate_limit_key_missing" | "rate_limit_exceeded")[]
/**
 * The exact reason of the refusal, as in the access log.
 */
reason?: string
/**
 * The exact message of the refusal.
 */
message?: string
/**
 * The locations of the violations, in any order: JSON Pointers (RFC 6901) into the body, or to parameters.
 */
errors?: string[]
/**
 * The status of the response to the client.
 */
status?: number
/**
 * The id of the matched route. `null`: no route matches.
 */
route?: (string | null)
headers?: ExpectedHeaders
/**
 * The body of the response to the client: a string exactly; a map or a list as the value of the JSON.
 */
body?: (string | {

} | unknown[])
/**
 * The request that the upstream gets. `null`: the upstream gets no request.
 */
upstream?: (ExpectedUpstream | null)
}
/**
 * Headers of the response to the client. `null`: the header is absent.
 */
export interface ExpectedHeaders {
[k: string]: HeaderValue | null
}
export interface ExpectedUpstream {
/**
 * The name of the upstream in the manifest.
 */
id?: string
/**
 * The path and query, or the complete URL with the selected endpoint.
 */
url?: string
/**
 * The method.
 */
method?: string
headers?: ExpectedHeaders1
/**
 * The body of the request, as in `expect`.
 */
body?: (string | {

} | unknown[])
}
/**
 * Headers of the request. `null`: the header is absent.
 */
export interface ExpectedHeaders1 {
[k: string]: HeaderValue | null
}
