// Made from schema/gateway-test.schema.json by `npm run generate`. Do not edit.
export type HeaderValue = (string | string[])

/**
 * Requests to a manifest's gateway and what is to become of each. Run by `signing-gateway test`, without a network. Version 1 of the language.
 */
export interface TestFile {
/**
 * The version of the test language.
 */
version: 1
/**
 * The manifest whose gateway is asked, by a path relative to this file.
 */
manifest: string
/**
 * The environment variables that the manifest sees; those of the process it does not see.
 */
environment: {
[k: string]: string
}
/**
 * What the tokens are that stand in headers of requests and in answers to logins, by their text. Any other token verifies never.
 */
tokens: {
[k: string]: TestToken
}
/**
 * Each request with what is expected.
 * 
 * @minItems 1
 */
cases: TestCase[]
}
export interface TestToken {
/**
 * The token verifies, and its role is this one.
 */
role?: string
/**
 * The token verifies, and these are its claims.
 */
claims?: {

}
/**
 * The token does not verify, for this reason.
 */
error?: ("token_malformed" | "token_inactive" | "token_expired" | "token_not_yet_valid" | "type_wrong" | "issuer_wrong" | "audience_wrong" | "algorithm_not_allowed" | "key_unknown" | "signature_wrong" | "claims_wrong" | "keys_unavailable")
}
export interface TestCase {
/**
 * What the case says, in the report.
 */
name: string
request: CaseRequest
response?: CaseResponse
expect: Expectation
}
/**
 * What is asked.
 */
export interface CaseRequest {
/**
 * The method, to the letter.
 */
method: string
/**
 * Path and query, to the letter: nothing is encoded or tidied.
 */
url: string
headers: CaseHeaders
/**
 * The caller sends a token that verifies and has this role; a list makes a case of each.
 */
role?: (string | string[])
/**
 * The caller sends a token that verifies and has these claims.
 */
claims?: {

}
/**
 * The body: a text as it is; a map or a list as JSON, with its Content-Type unless `headers` has one.
 */
body?: (string | {

} | unknown[])
/**
 * In place of `body`: so many blanks.
 */
bodyBytes?: number
}
/**
 * The request's headers, as they are sent; several of one name as a list.
 */
export interface CaseHeaders {
[k: string]: HeaderValue
}
/**
 * What the upstream answers, if it is asked. Left out: 200 without a body.
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
 * The answer's headers, as they are sent; several of one name as a list.
 */
export interface CaseHeaders1 {
[k: string]: HeaderValue
}
/**
 * What is to become of it. What is left out is not looked at, but for `refusal`.
 */
export interface Expectation {
/**
 * The code of the gateway's refusal, as in docs/errors.md. Left out: the gateway refuses nothing.
 */
refusal?: ("message_malformed" | "path_ambiguous" | "parameter_invalid" | "body_invalid" | "token_missing" | "token_invalid" | "origin_not_allowed" | "role_not_allowed" | "route_unknown" | "method_not_allowed" | "request_timeout" | "body_too_large" | "media_type_unsupported" | "expectation_failed" | "headers_too_large" | "internal_error" | "upstream_unreachable" | "upstream_error" | "login_response_refused" | "gateway_busy" | "upstream_unavailable" | "upstream_busy" | "keys_unavailable" | "upstream_timeout")
/**
 * The codes of what would have been refused, where the route only reports: in any order.
 */
reported?: ("parameter_invalid" | "body_invalid" | "media_type_unsupported")[]
/**
 * What exactly was wrong, as the log says it.
 */
reason?: string
/**
 * What the refusal says to the client, word for word.
 */
message?: string
/**
 * Where the request is at fault: JSON Pointers (RFC 6901) into the body, or to parameters, in any order.
 */
errors?: string[]
/**
 * The status that the client gets.
 */
status?: number
/**
 * The id of the route that has the request; `null`: none has it.
 */
route?: (string | null)
headers?: ExpectedHeaders
/**
 * The body that the client gets: a text to the letter; a map or a list as the value of the JSON.
 */
body?: (string | {

} | unknown[])
/**
 * What the upstream gets; `null`: no upstream is asked.
 */
upstream?: (ExpectedUpstream | null)
}
/**
 * Headers that the client gets; `null`: there is none of this name.
 */
export interface ExpectedHeaders {
[k: string]: HeaderValue | null
}
export interface ExpectedUpstream {
/**
 * The upstream's name in the manifest.
 */
id?: string
/**
 * Path and query that it is asked for, to the letter; or all of the URL, the chosen target before them.
 */
url?: string
/**
 * The method.
 */
method?: string
headers?: ExpectedHeaders1
/**
 * The body that it gets, as in `expect`.
 */
body?: (string | {

} | unknown[])
}
/**
 * Headers that it gets; `null`: there is none of this name.
 */
export interface ExpectedHeaders1 {
[k: string]: HeaderValue | null
}
