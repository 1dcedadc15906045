// Made from schema/gateway.schema.json by `npm run generate`. Do not edit.
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
server: Server
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
 * How clients are served, whatever they ask for: TLS, trusted proxies, time limits and sizes.
 */
export interface Server {
/**
 * Clients are served over TLS 1.2 or 1.3. Left out: plain HTTP.
 */
tls?: {
/**
 * The certificate and the chain that goes with it, in PEM: a path relative to the manifest.
 */
certificate: string
/**
 * The certificate's private key in PEM, without a passphrase: a path relative to the manifest.
 */
key: string
}
/**
 * Addresses and CIDR blocks of the proxies that are believed what they say of their clients.
 */
trustedProxies: string[]
/**
 * How long clients may take.
 */
timeouts: {
/**
 * Until the head of a request has come: from its first byte, or of the first request from the connection's opening.
 */
headers: string
/**
 * Until the whole request has come, its body too: what the slowest upload may take.
 */
request: string
/**
 * How long a connection is kept between two requests: longer than the load balancer before the gateway keeps it.
 */
keepAlive: string
/**
 * How long a client may take nothing of its answer, or send nothing of its body.
 */
stalled: string
}
/**
 * How much clients may send, and how often.
 */
limits: {
/**
 * How long the head of a request may be.
 */
headerBytes: string
/**
 * How many headers a request may have.
 */
headers: number
/**
 * How many connections may be open at once; one more is closed as it opens.
 */
connections: number
/**
 * How many requests a connection may carry; the last one's answer closes it.
 */
requestsPerConnection: number
}
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
