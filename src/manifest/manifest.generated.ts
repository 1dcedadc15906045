// Made from schema/gateway.schema.json by `npm run generate`. Do not edit.
/**
 * One HTTP method, in upper case.
 */
export type Method = ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")
/**
 * The name of a header, in any letter case.
 */
export type HeaderName = string
export type JsonSchema = boolean | Readonly<Record<string, unknown>>
/**
 * A place in a JSON value: a JSON Pointer (RFC 6901).
 */
export type Pointer = string

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
cors?: Cors
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
}
role: Role
/**
 * The realm in the challenges of 401 and 403 (RFC 6750, section 3).
 */
realm: string
}
/**
 * Tokens are signed JWTs (RFC 7519), verified here by the issuer's public keys.
 */
export interface Jwt {
/**
 * The issuer's public keys (RFC 7517): a URL, or a file by a path relative to the manifest.
 */
jwks: string
/**
 * The only signature algorithms that are accepted, whatever a token says of itself.
 * 
 * @minItems 1
 */
algorithms: ("ES256" | "ES384" | "ES512" | "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "EdDSA" | "Ed25519")[]
/**
 * What the token's `iss` must be, to the letter.
 */
issuer: string
/**
 * What the token's `aud` must be or hold, to the letter.
 */
audience: string
/**
 * How far the issuer's clock may differ from this machine's.
 */
clockTolerance: string
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
 * Whether the claim is a list of roles, one of which must be allowed. With it a claim that is no list never passes; without it a list never does.
 */
array: boolean
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
 * What pages of other origins may do in a browser (the CORS protocol of the Fetch standard). Left out: nothing is done about it, and OPTIONS goes by the routes.
 */
export interface Cors {
/**
 * The origins whose pages may read answers, as browsers write them: scheme, host and port. `*` alone is any origin, `null` too; in a list `null` is allowed only where it is written.
 * 
 * @minItems 1
 */
origins: string[]
/**
 * The methods that a preflight allows. Left out: those that the routes of its path take.
 * 
 * @minItems 1
 */
methods?: Method[]
/**
 * The request headers that a preflight allows.
 */
headers: HeaderName[]
/**
 * The answer's headers that a page may read, besides those that it always may.
 */
exposedHeaders: HeaderName[]
/**
 * Whether pages may send cookies and TLS client certificates along. A bearer token that a page adds itself needs none of this. Never together with `*`.
 */
credentials: boolean
/**
 * How long a browser may keep what a preflight allowed.
 */
maxAge: string
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
 * The roles that may pass here, some of `auth.role.allow`; also at login, on a route with `login`. Left out: all of them.
 * 
 * @minItems 1
 */
roles?: string[]
/**
 * Whether a WebSocket handshake (RFC 6455) may turn the connection into a tunnel, by the same path, token and role as any request. Left out: an upgrade is a plain request.
 */
websocket: boolean
/**
 * The role gate at login: an answer that carries a token is let out only if the token verifies and its role is allowed. `{}` looks for JWTs in the whole answer.
 */
login?: {
/**
 * Where the token stands in the JSON of a successful answer: a JSON Pointer (RFC 6901), or a list of them. An answer without it, an MFA challenge say, passes unchanged.
 */
token?: (Pointer | Pointer[])
/**
 * The name of a header, in any letter case.
 */
header?: string
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
