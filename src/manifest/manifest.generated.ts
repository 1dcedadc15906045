// Made from schema/gateway.schema.json by `npm run generate`. Do not edit.
export type JsonSchema = boolean | Readonly<Record<string, unknown>>
/**
 * One HTTP method, in upper case.
 */
export type Method = ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")
/**
 * A media type without parameters (RFC 9110 section 8.3.1), or all of a kind.
 */
export type MediaType = string

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
 * JSON Schemas (2020-12) that bodies and parameters share, by name; referred to as `#/schemas/Name`.
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
 * What becomes of a request whose parameters or body do not fit: `enforce`, it is refused; `report`, it goes on, and its line in the log says what would have been refused. `maxBytes` holds in both.
 */
validation: ("enforce" | "report")
/**
 * What the `{name}` segments of the path may be.
 */
params?: {
/**
 * A JSON Schema for each name, which judges the decoded segment: a string, read as a number or boolean where the schema asks for one.
 */
properties: {
[k: string]: JsonSchema
}
}
/**
 * What the query may hold. It goes on as it was sent.
 */
query?: {
/**
 * A JSON Schema for each name, which judges every value of it: a decoded string, read as a number or boolean where the schema asks for one.
 */
properties: {
[k: string]: JsonSchema
}
/**
 * The names that must be there.
 */
required: string[]
/**
 * What becomes of names that are not among the properties: `allow`, they go on; `refuse`, 400.
 */
unknown: ("allow" | "refuse")
/**
 * What becomes of names that stand there more than once: `allow`, each value is judged; `refuse`, 400; a list: only the names in it may be repeated.
 */
repeated: (("allow" | "refuse") | string[])
}
/**
 * What single headers may be. Others go on unjudged.
 */
headers?: {
/**
 * A JSON Schema for each name, in any letter case, which judges every line of that header: a string, read as a number or boolean where the schema asks for one.
 */
properties: {
[k: string]: JsonSchema
}
/**
 * The names that must be there.
 */
required: string[]
}
/**
 * What the request's body may be. Left out: any body, streamed through.
 */
body?: {
/**
 * The media types that the body may have, with any parameters; `image/*` stands for all of a kind. Another one, or a content encoding, is 415. Left out: any; with a schema: application/json and all that end in +json.
 * 
 * @minItems 1
 */
types?: MediaType[]
/**
 * The JSON Schema (2020-12) of a JSON body. The whole body is read and checked before a byte of it goes on.
 */
schema?: boolean | Readonly<Record<string, unknown>>
/**
 * The parts that a multipart/form-data (RFC 7578) has, and no others; looked at while they go by.
 */
multipart?: {
/**
 * What each part may be, by its name.
 */
parts: {
[k: string]: Part
}
}
/**
 * What a text/csv (RFC 4180) begins with; looked at while it goes by.
 */
csv?: {
/**
 * The columns of the first row, to the letter and in this order.
 * 
 * @minItems 1
 */
header: string[]
/**
 * The character between two columns.
 */
delimiter: string
}
/**
 * How long the body may be.
 */
maxBytes: string
}
}
/**
 * A part of a multipart/form-data.
 */
export interface Part {
/**
 * The media types that it may have; a part that says none is text/plain. Left out: any.
 * 
 * @minItems 1
 */
types?: MediaType[]
/**
 * How long one part may be; the whole body has its own limit.
 */
maxBytes: string
/**
 * How many parts of this name there may be.
 */
maxCount: number
/**
 * Whether there must be one.
 */
required: boolean
}
