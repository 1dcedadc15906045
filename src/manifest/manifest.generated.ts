// Made from schema/gateway.schema.json by `npm run generate`. Do not edit.
/**
 * Host and port; port 0 takes any free one.
 */
export type Address = string
/**
 * Scheme, host and port; no path and no credentials.
 */
export type UpstreamUrl = string
/**
 * In place of `url`: several targets that serve the same.
 * 
 * @minItems 1
 */
export type UpstreamUrls = UpstreamUrl[]
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
 * Files that belong to this manifest: their `routes`, `upstreams` and `schemas` are taken in. A path or pattern relative to the manifest, or a list of them.
 */
include?: (string | string[])
/**
 * The address on which clients are served.
 */
listen: string
/**
 * The operators' side, which docs/operations.md tells of: its address, or its address and who may ask. Off loopback it needs a token or client certificates. Left out: no such side.
 */
admin?: (Address | Admin)
server: Server
reload: Reload
/**
 * The services behind the gateway, by the name that routes use.
 */
upstreams: {
[k: string]: Upstream
}
auth?: Auth
cors?: Cors
log: Log
tracing: Tracing
/**
 * JSON Schemas (2020-12) that bodies and parameters share, by name; referred to as `#/schemas/Name`.
 */
schemas: {
[k: string]: JsonSchema
}
lint: Lint
/**
 * Every route that is served. What no route matches is answered 404.
 * 
 * @minItems 1
 */
routes: RouteEntry[]
}
/**
 * The operators' side. What is stated of `token` and `tls.clientCa` is asked for, except by /livez and /readyz.
 */
export interface Admin {
/**
 * Host and port; port 0 takes any free one.
 */
listen: string
/**
 * What operators send as `Authorization: Bearer …`, or as the password of HTTP Basic: 16 characters or more, from the environment.
 */
token?: string
/**
 * The operators' side speaks TLS 1.2 or 1.3. Left out: plain HTTP.
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
/**
 * Operators show a certificate that one of these authorities has signed: a PEM file, by a path relative to the manifest. Left out: none is asked for.
 */
clientCa?: string
}
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
/**
 * How many bytes of bodies the gateway holds in memory at once, for all clients together: request bodies with a schema, and responses of login routes. A request that needs more is refused with 503.
 */
bufferedBodies: string
}
/**
 * What happens on SIGTERM; docs/operations.md tells of it.
 */
stopping: {
/**
 * How long new connections are still taken, so that who sends requests learns from /readyz that it should send no more.
 */
delay: string
/**
 * How long, from then on, requests in flight and WebSockets may take to end before they are cut.
 */
grace: string
}
}
/**
 * How a saved manifest is put in force.
 */
export interface Reload {
/**
 * A test file, as `signing-gateway test` runs it, that the manifest must pass before it is put in force, at the start too: a path relative to the manifest. Left out: none.
 */
selfTest?: string
/**
 * How long WebSockets and event streams go on when a reload has changed their route, or who may use it.
 */
grace: string
}
/**
 * A service behind the gateway: one target by `url`, or several by `urls`.
 */
export interface Upstream {
/**
 * The one target of this upstream: scheme, host and port; no path and no credentials.
 */
url?: string
urls?: UpstreamUrls
/**
 * Which target takes the next request: each in turn, or the one with the fewest requests in flight.
 */
balance: ("round-robin" | "least-pending")
/**
 * How long each step of an exchange with this upstream may take.
 */
timeouts: {
/**
 * Until the connection stands, TLS included; and how long a request may wait for a free one.
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
/**
 * The whole exchange, from the request's turn to the answer's last byte. Left out: no such limit.
 */
total?: string
}
/**
 * How many requests this upstream is given at once.
 */
connections: {
/**
 * How many connections may be open to each target.
 */
limit: number
/**
 * How many requests may wait for a free connection; one more is answered 503 with `Retry-After`.
 */
queue: number
}
/**
 * Whether a request is sent once more when that is safe: nothing of it was sent, or its kept-alive connection died without a byte of an answer and the method is idempotent (RFC 9110 section 9.2.2).
 */
retry: boolean
/**
 * Asks each target by itself whether it is well. Left out: a target is taken for well.
 */
health?: {
/**
 * What is asked for with GET; an answer of 2xx is well.
 */
path: string
/**
 * From one question to the next.
 */
interval: string
/**
 * How long the whole answer may take.
 */
timeout: string
/**
 * After so many good answers in a row a target is taken for well again.
 */
healthy: number
/**
 * After so many bad ones in a row it gets no requests.
 */
unhealthy: number
/**
 * Whether /readyz says 503 while no target is well. Otherwise it says `degraded`.
 */
required: boolean
}
/**
 * A circuit breaker for each endpoint: an endpoint that fails several times in a row gets no requests for a pause, and then one as a trial. A failure is an exchange without a complete response; a response of any status is not a failure, and neither is anything that the client caused. Default: on with several endpoints, where requests still go to all of them while every breaker is open; off with one endpoint.
 */
breaker?: {
/**
 * `false` switches the breaker off, also where it is on by default.
 */
enabled: boolean
/**
 * Consecutive failures that open the breaker.
 */
failures: number
/**
 * How long the breaker stays open before the endpoint is tried again.
 */
pause: string
}
/**
 * TLS to this upstream; its targets are `https` then. The certificate of a target is always verified.
 */
tls?: {
/**
 * The authorities that may have signed the target's certificate, in place of the usual ones: a PEM file.
 */
ca?: string
/**
 * The certificate by which the gateway says who it is: a PEM file, the chain included.
 */
certificate?: string
/**
 * The private key of `certificate`: a PEM file.
 */
key?: string
/**
 * The name that is asked for (SNI, RFC 6066 section 3) and that the certificate must have. Left out: the host of the URL.
 */
serverName?: string
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
/**
 * The realm in the challenges of 401 and 403 (RFC 6750, section 3).
 */
realm: string
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
 * What the log of requests holds.
 */
export interface Log {
/**
 * The share of requests answered 2xx that have a line. All others have one: refusals, errors, redirects, what was cut short or only reported.
 */
sample2xx: number
}
/**
 * How requests are traced (W3C Trace Context): a trace is continued where the client sends `traceparent`, and begun where it does not.
 */
export interface Tracing {
/**
 * The share of the traces begun here that are marked as sampled, which upstreams mostly follow. Where an OpenTelemetry SDK is loaded, its sampler decides.
 */
sample: number
}
/**
 * What `signing-gateway lint` advises on. What is served does not depend on it.
 */
export interface Lint {
/**
 * The rules that advise unless `rules` says otherwise: `minimal`, what is most likely a hole or a mistake; `recommended`, what most should heed too; `strict`, all of them.
 */
preset: ("minimal" | "recommended" | "strict")
/**
 * How severely single rules judge, by their ids: see rules.md. `off`: not at all.
 */
rules: {
[k: string]: "off" | "info" | "warning" | "error"
}
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
 * How long an exchange of this route may take from the request's turn to the answer's last byte, in place of the upstream's `response` and `total`.
 */
timeout?: string
/**
 * What becomes of `%2F` in a path. `refuse`: 400, as for everything that can be read in two ways; `keep`: it stays inside of its segment, for an upstream that tells it from a slash.
 */
encodedSlash: ("refuse" | "keep")
/**
 * A prefix of the path that is another one at the upstream. Left out: the upstream gets the path as it was sent.
 */
upstreamPath?: {
/**
 * The prefix: whole segments that `path` begins with, none of them `{name}`; `/` is none at all.
 */
replace: string
/**
 * What stands in its place; `/` strips the prefix.
 */
with: string
}
requestHeaders?: RequestHeaderRules
responseHeaders?: HeaderRules
/**
 * The roles that may pass here, some of `auth.role.allow`; also at login, on a route with `login`. Left out: all of them.
 * 
 * @minItems 1
 */
roles?: string[]
/**
 * True if a WebSocket handshake (RFC 6455) may turn the connection into a tunnel, by the same path, token and role as any request; or the same with a list of origins. By default an upgrade is a plain request.
 */
websocket: (boolean | {
/**
 * The origins whose pages may open a WebSocket, as browsers write them; `*` alone is any origin. Without a list, pages of the same host and of `cors.origins` may. A handshake without `Origin` passes, since browsers always send it.
 * 
 * @minItems 1
 */
origins: string[]
})
/**
 * The role gate at login: the gateway examines every response of the route. A token at the stated place leaves only if it verifies and its role is allowed, and a JWT anywhere else only if its role is allowed or the gateway would never accept it. With `{}` every JWT in the response must verify.
 */
login?: {
/**
 * Where the token stands in a JSON response: a JSON Pointer (RFC 6901), or a list of them. A response without it, an MFA challenge say, passes unchanged.
 */
token?: (Pointer | Pointer[])
/**
 * The name of a header, in any letter case.
 */
header?: string
/**
 * How long the response may be, as sent and decoded.
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
 * Headers of the request that the gateway sets, removes or keeps on their way to the upstream.
 */
export interface RequestHeaderRules {
/**
 * Names and values; each takes the place of whatever was sent under its name.
 */
set: {
[k: string]: string
}
/**
 * Names of headers that go no further.
 */
remove: string[]
/**
 * Names of headers that may override the method, path, host or scheme of a request. The gateway drops all of these headers unless they are named here.
 */
keep: string[]
}
/**
 * Headers of the answer that are set or removed on their way to the client. What the gateway itself answers is not touched.
 */
export interface HeaderRules {
/**
 * Names and values; each takes the place of whatever was sent under its name.
 */
set: {
[k: string]: string
}
/**
 * Names of headers that go no further.
 */
remove: string[]
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
