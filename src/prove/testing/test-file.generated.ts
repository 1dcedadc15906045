// Made from schema/gateway-test.schema.json by `npm run generate`. Do not edit.
export type HeaderValue = (string | string[])
export type Body = (string | {

} | unknown[])

export interface TestFile {
version: 1
manifest: string
environment: {
[k: string]: string
}
tokens: {
[k: string]: TestToken
}
cases: TestCase[]
}
export interface TestToken {
issuer?: string
role?: string
claims?: {

}
error?: ("token_malformed" | "token_inactive" | "token_expired" | "token_not_yet_valid" | "type_wrong" | "issuer_wrong" | "audience_wrong" | "algorithm_not_allowed" | "key_unknown" | "signature_wrong" | "claims_wrong" | "keys_unavailable")
}
export interface TestCase {
name: string
request: CaseRequest
response?: CaseResponse
expect: Expectation
}
export interface CaseRequest {
method: (string | string[])
url: (string | string[])
headers: CaseHeaders
role?: (string | string[])
issuer?: string
claims?: {

}
body?: Body
bodyBytes?: number
times: number
wait?: string
}
export interface CaseHeaders {
[k: string]: HeaderValue
}
export interface CaseResponse {
status: number
headers: CaseHeaders1
body?: Body
}
export interface CaseHeaders1 {
[k: string]: HeaderValue
}
export interface Expectation {
refusal?: ("message_malformed" | "path_ambiguous" | "parameter_invalid" | "body_invalid" | "token_missing" | "token_invalid" | "origin_not_allowed" | "claim_unusable" | "role_not_allowed" | "route_unknown" | "method_not_allowed" | "request_timeout" | "body_too_large" | "media_type_unsupported" | "expectation_failed" | "websocket_version_unsupported" | "rate_limit_key_missing" | "rate_limit_exceeded" | "headers_too_large" | "internal_error" | "upstream_unreachable" | "upstream_error" | "login_response_refused" | "gateway_busy" | "rate_limit_unavailable" | "upstream_unavailable" | "upstream_busy" | "keys_unavailable" | "upstream_timeout" | "loop_detected")
reported?: ("parameter_invalid" | "body_invalid" | "media_type_unsupported" | "rate_limit_key_missing" | "rate_limit_exceeded")[]
reason?: string
message?: string
errors?: string[]
status?: number
route?: (string | null)
headers?: ExpectedHeaders
body?: Body
upstream?: (ExpectedUpstream | null)
}
export interface ExpectedHeaders {
[k: string]: HeaderValue | null
}
export interface ExpectedUpstream {
id?: string
url?: string
method?: string
headers?: ExpectedHeaders
body?: Body
}
