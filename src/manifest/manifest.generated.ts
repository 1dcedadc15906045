// Made from schema/gateway.schema.json by `npm run generate`. Do not edit.
/**
 * Claims that must be there, beside those that are checked anyway.
 */
export type ClaimNames = string[]
/**
 * A URL without credentials.
 */
export type EndpointUrl = string
/**
 * Claims that must be there, beside those that are checked anyway.
 */
export type ClaimNames1 = string[]
/**
 * Claims that must be there, beside those that are checked anyway.
 */
export type ClaimNames2 = string[]
export type JsonSchema = boolean | Readonly<Record<string, unknown>>
/**
 * One HTTP method, in upper case.
 */
export type Method = ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")

/**
 * What the signing gateway serves: its upstream services, how tokens are verified, and every route. Version 1 of the language.
 */
export interface Manifest {
/**
 * The version of the manifest language.
 */
version: 1
/**
 * The address on which clients are served.
 */
listen: string
/**
 * The address of the operators' side: /livez, /readyz and /status. Left out: no such side.
 */
admin?: string
/**
 * The services behind the gateway, by the name that routes use.
 */
upstreams: {
[k: string]: Upstream
}
auth?: Auth
/**
 * JSON Schemas (2020-12) that bodies share, by name; referred to as `#/schemas/Name`.
 */
schemas: {
[k: string]: JsonSchema
}
/**
 * Every route that is served. What no route matches is answered 404.
 * 
 * @minItems 1
 */
routes: RouteEntry[]
}
/**
 * A service behind the gateway.
 */
export interface Upstream {
/**
 * Scheme, host and port; no path and no credentials.
 */
url: string
/**
 * How long each step of an exchange with this upstream may take.
 */
timeouts: {
/**
 * Until the connection stands, TLS included.
 */
connect: string
/**
 * From the whole request sent until the answer's head has come.
 */
response: string
/**
 * Between two pieces of the answer's body.
 */
idle: string
}
}
/**
 * How protected routes know their callers. Required as soon as one route is protected or has a login gate.
 */
export interface Auth {
/**
 * How a bearer token is verified: exactly one way.
 */
tokens: {
jwt?: Jwt
introspection?: Introspection
userinfo?: Userinfo
}
role: Role
}
/**
 * Tokens are signed JWTs (RFC 7519), verified here: by the issuer's public keys, or by a secret shared with it. Exactly one of `jwks`, `discovery` and `secret` says by which.
 */
export interface Jwt {
/**
 * The issuer's public keys (RFC 7517): a URL, a file by a path relative to the manifest, or the set itself.
 */
jwks?: (string | KeySet)
/**
 * The issuer's address, whose metadata (OpenID Connect Discovery, RFC 8414) says where its keys are. https, or http on loopback.
 */
discovery?: string
/**
 * The secret of HS256, HS384 or HS512, from the environment: its UTF-8 bytes, at least as many as the hash has.
 */
secret?: string
/**
 * The only signature algorithms that are accepted, whatever a token says of itself.
 * 
 * @minItems 1
 */
algorithms: ("ES256" | "ES384" | "ES512" | "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "EdDSA" | "Ed25519" | "HS256" | "HS384" | "HS512")[]
/**
 * What the token's `iss` must be, to the letter.
 */
issuer: string
/**
 * What the token's `aud` must be or hold, to the letter.
 */
audience: string
/**
 * What the `typ` of the token's header must be (RFC 8725 section 3.11). Left out: it is not looked at.
 */
type?: string
requiredClaims: ClaimNames
/**
 * How far the issuer's clock may differ from this machine's.
 */
clockTolerance: string
/**
 * How long asking for keys may take, discovery included.
 */
timeout: string
/**
 * How long the last keys serve beyond their ten minutes while no new ones can be had.
 */
staleIfError: string
cache: TokenCache
}
/**
 * A set of public keys (RFC 7517 section 5).
 */
export interface KeySet {
/**
 * The keys, their public members alone.
 * 
 * @minItems 1
 */
keys: {

}[]
}
/**
 * How long a verified token is trusted without looking at it again.
 */
export interface TokenCache {
/**
 * For at most this long, and never beyond its `exp`. Where the issuer is asked about tokens, a user who was just blocked may go on for so long.
 */
maxAge: string
/**
 * How many tokens are remembered; beyond that, those that were not used for the longest time are verified anew.
 */
maxEntries: number
}
/**
 * Tokens are of any form; the issuer is asked about each (RFC 7662).
 */
export interface Introspection {
/**
 * The introspection endpoint: a URL, or a path of an upstream.
 */
endpoint: (EndpointUrl | UpstreamEndpoint)
/**
 * As whom the gateway asks.
 */
clientId: string
/**
 * Its secret, from the environment.
 */
clientSecret: string
/**
 * How both are sent (RFC 6749 section 2.3.1): `basic`, in the header; `post`, in the form.
 */
clientAuthentication: ("basic" | "post")
/**
 * What the answer's `iss` must be, to the letter. Left out: it is not looked at.
 */
issuer?: string
/**
 * What the answer's `aud` must be or hold, to the letter. Left out: it is not looked at.
 */
audience?: string
requiredClaims: ClaimNames1
/**
 * How far the issuer's clock may differ from this machine's.
 */
clockTolerance: string
/**
 * How long one question may take, from connecting to the last byte; of an upstream no longer than its own `connect` and `response` allow together.
 */
timeout: string
/**
 * How long a token that was good is taken for good beyond `cache.maxAge` while its issuer gives no answer; never beyond its `exp`. `0s`: not at all.
 */
staleIfError: string
cache: TokenCache1
}
/**
 * A path of an upstream, which is reached as its definition says.
 */
export interface UpstreamEndpoint {
/**
 * Lower-case words joined by hyphens.
 */
upstream: string
/**
 * Path and query, as they are sent.
 */
path: string
}
/**
 * How long a verified token is trusted without looking at it again.
 */
export interface TokenCache1 {
/**
 * For at most this long, and never beyond its `exp`. Where the issuer is asked about tokens, a user who was just blocked may go on for so long.
 */
maxAge: string
/**
 * How many tokens are remembered; beyond that, those that were not used for the longest time are verified anew.
 */
maxEntries: number
}
/**
 * Tokens are of any form; each is sent to a route of the identity service that answers with who its user is.
 */
export interface Userinfo {
/**
 * What is asked, by a GET with the caller's own token: a URL, or a path of an upstream. 200 and a JSON object is a valid token and its claims, 401 or 403 is no valid token.
 */
endpoint: (EndpointUrl | UpstreamEndpoint)
requiredClaims: ClaimNames2
/**
 * How far the issuer's clock may differ from this machine's.
 */
clockTolerance: string
/**
 * How long one question may take, from connecting to the last byte; of an upstream no longer than its own `connect` and `response` allow together.
 */
timeout: string
/**
 * How long a token that was good is taken for good beyond `cache.maxAge` while its issuer gives no answer; never beyond its `exp`. `0s`: not at all.
 */
staleIfError: string
cache: TokenCache2
}
/**
 * How long a verified token is trusted without looking at it again.
 */
export interface TokenCache2 {
/**
 * For at most this long, and never beyond its `exp`. Where the issuer is asked about tokens, a user who was just blocked may go on for so long.
 */
maxAge: string
/**
 * How many tokens are remembered; beyond that, those that were not used for the longest time are verified anew.
 */
maxEntries: number
}
/**
 * The role gate: checked on every protected request, and at login on routes with `login`.
 */
export interface Role {
/**
 * Where the role stands in the verified claims: a JSON Pointer (RFC 6901).
 */
claim: string
/**
 * The roles that may pass, to the letter.
 * 
 * @minItems 1
 */
allow: string[]
/**
 * The `message` of the 403 that anyone else gets, word for word.
 */
message: string
}
/**
 * One route: what it matches, who may call it, and where it goes.
 */
export interface RouteEntry {
/**
 * Lower-case words joined by hyphens.
 */
id: string
/**
 * One method, a list of methods, or `any`. A GET route answers HEAD too.
 */
method: (("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "any") | Method[])
/**
 * The path that is matched, still encoded: `{name}` stands for one segment, a final `/**` for any rest, none included. The most specific path wins.
 */
path: string
/**
 * Lower-case words joined by hyphens.
 */
upstream: string
/**
 * Who may call: `public`, anyone; `protected`, a caller with a valid token and an allowed role. Never left out.
 */
access: ("public" | "protected")
/**
 * Whether a WebSocket handshake (RFC 6455) may turn the connection into a tunnel, by the same path, token and role as any request. Left out: an upgrade is a plain request.
 */
websocket: boolean
/**
 * The role gate at login: a successful answer that carries a token is let out only if the token verifies and its role is allowed.
 */
login?: {
/**
 * Where the token stands in the answer: a JSON Pointer (RFC 6901). An answer without it, an MFA challenge say, passes unchanged.
 */
token: string
/**
 * How long the answer may be, as sent and decoded.
 */
maxBytes: string
}
/**
 * What the request's body may be. Left out: any body, streamed through.
 */
body?: {
/**
 * The JSON Schema (2020-12) of a JSON body. The whole body is read and checked before a byte of it goes on.
 */
schema?: boolean | Readonly<Record<string, unknown>>
/**
 * How long the body may be.
 */
maxBytes: string
}
}
