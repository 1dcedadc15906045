// Made from schema/gateway.schema.json by `npm run generate`. Do not edit.
/**
 * Host and port. Port 0 selects any free port.
 */
export type Address = string
/**
 * Scheme, host and port, without a path and credentials; or `unix:` and the path of a unix socket, for plain HTTP.
 */
export type UpstreamUrl = string
/**
 * Several endpoints of one service, in place of `url`.
 * 
 * @minItems 1
 */
export type UpstreamUrls = UpstreamUrl[]
/**
 * Claims that a token must have, in addition to those that are always checked.
 */
export type ClaimNames = string[]
/**
 * A URL without credentials.
 */
export type EndpointUrl = string
/**
 * Claims that a token must have, in addition to those that are always checked.
 */
export type ClaimNames1 = string[]
/**
 * Claims that a token must have, in addition to those that are always checked.
 */
export type ClaimNames2 = string[]
/**
 * The claim that a header is set from.
 */
export type ClaimHeader = (string | {
/**
 * The location of the claim: a JSON Pointer (RFC 6901).
 */
claim: string
/**
 * The treatment of a caller whose token lacks the claim: `refuse` the request (the default), or `omit` the header.
 */
missing?: ("refuse" | "omit")
})
/**
 * One HTTP method, in upper case.
 */
export type Method = ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")
/**
 * The name of a header, in any letter case.
 */
export type HeaderName = string
/**
 * The URL of a Redis server: `redis://` or, with TLS, `rediss://`, with an optional user, password and database number.
 */
export type RedisUrl = string
/**
 * `client` is the address of the client, and of IPv6 its /64 network; `subject` is the caller, by the claim `sub`; `route` is the route.
 */
export type RateLimitKeyName = ("client" | "subject" | "route")
export type JsonSchema = boolean | Readonly<Record<string, unknown>>
/**
 * Lower-case words joined by hyphens.
 */
export type Name = string
/**
 * A media type without parameters (RFC 9110 section 8.3.1), or a range such as image/*.
 */
export type MediaType = string
/**
 * The default of `routes[].issuers`, for protected routes.
 * 
 * @minItems 1
 */
export type Issuers = Name[]
/**
 * The default of `routes[].rateLimits`. A route without limits has an empty list.
 * 
 * @maxItems 16
 */
export type RateLimits = Name[]
/**
 * A location in a JSON value: a JSON Pointer (RFC 6901).
 */
export type Pointer = string

/**
 * The configuration of the signing gateway: upstream services, token verification and routes. Version 1 of the language.
 */
export interface Manifest {
/**
 * The version of the manifest language.
 */
version: 1
/**
 * Files that are part of this manifest. The gateway adds their `routes`, `upstreams` and `schemas` to those of the manifest. A path or glob pattern relative to the manifest, or a list of them.
 */
include?: (string | string[])
/**
 * The address on which the gateway accepts clients.
 */
listen: string
/**
 * The admin API: its address, or its address and the credentials that it requires. Outside of loopback it requires a token or client certificates. By default the gateway has no admin API. See docs/operations.md.
 */
admin?: (Address | Admin)
server: Server
reload: Reload
/**
 * The upstream services, by the names that routes use.
 */
upstreams: {
[k: string]: Upstream
}
auth?: Auth
cors?: Cors
log: Log
tracing: Tracing
/**
 * Redis servers that several gateways share for rate limits, by name. Without a store, each gateway counts by itself.
 */
stores: {
[k: string]: Store
}
/**
 * Rate limits, by the names that routes use. All routes with the same limit share its counters.
 */
rateLimits: {
[k: string]: RateLimit
}
/**
 * JSON Schemas (2020-12) for bodies and parameters, by name. Refer to one as `#/schemas/Name`.
 */
schemas: {
[k: string]: JsonSchema
}
lint: Lint
/**
 * Rules about all requests. A manifest that breaks one of them is not activated. A list, or a map with the file of another team.
 */
invariants: (Invariant[] | {
/**
 * A YAML file with the list of `invariants`, relative to the manifest.
 */
file: string
})
/**
 * Values for the routes of this file that do not state their own. A value of a route replaces the default as a whole. `roles` and `issuers` hold in included files too, whose own defaults may only name fewer.
 */
defaults?: {
/**
 * The default of `routes[].timeout`.
 */
timeout?: string
/**
 * The default of `routes[].roles`, for protected routes and routes with `login`.
 */
roles?: ("any" | string[])
issuers?: Issuers
rateLimits?: RateLimits
requestHeaders?: RequestHeaderRules
responseHeaders?: HeaderRules
/**
 * The default of `routes[].body`, for routes with a method that has a body.
 */
body?: {
/**
 * The maximum size of the body.
 */
maxBytes: string
}
/**
 * The default of `routes[].validation`.
 */
validation?: ("enforce" | "report")
/**
 * The default of `routes[].websocket`, for routes with GET and without `login`.
 */
websocket?: (boolean | {
/**
 * The origins whose pages may open a WebSocket, as browsers send them; `*` alone allows every origin. Without a list, pages of the same host and of `cors.origins` may. The gateway accepts a handshake without `Origin`, because browsers always send it.
 * 
 * @minItems 1
 */
origins: string[]
})
}
/**
 * The routes. A request that matches no route gets 404.
 * 
 * @minItems 1
 */
routes: RouteEntry[]
}
/**
 * The admin API. Callers must satisfy every one of `token` and `tls.clientCa` that is set, except on /livez and /readyz. Outside of loopback at least one is required.
 */
export interface Admin {
/**
 * Host and port. Port 0 selects any free port.
 */
listen: string
/**
 * The token that callers send as `Authorization: Bearer …`, or as the password of HTTP Basic. At least 16 characters, from the environment.
 */
token?: string
/**
 * TLS 1.2 or 1.3 for the admin API. By default it uses plain HTTP.
 */
tls?: {
/**
 * The certificate with its chain: a PEM file, relative to the manifest.
 */
certificate: string
/**
 * The private key of the certificate, without a passphrase: a PEM file, relative to the manifest.
 */
key: string
/**
 * The authorities that sign client certificates: a PEM file, relative to the manifest. Callers must then present a certificate of one of them. By default no client certificate is required.
 */
clientCa?: string
}
}
/**
 * Settings of the listener for all clients: TLS, trusted proxies, timeouts and limits.
 */
export interface Server {
/**
 * The threads that serve requests, each with its own listener on the same address: a number, or `auto` for one per processor that the process may use. They serve one plan and count together. A change requires a restart. See docs/workers.md.
 */
workers: (number | string)
/**
 * TLS 1.2 or 1.3 for clients. By default the gateway uses plain HTTP.
 */
tls?: {
/**
 * The certificate with its chain: a PEM file, relative to the manifest.
 */
certificate: string
/**
 * The private key of the certificate, without a passphrase: a PEM file, relative to the manifest.
 */
key: string
}
/**
 * The proxies whose forwarding headers (`X-Forwarded-*`, `X-Request-Id`) are trusted: IP addresses and CIDR blocks.
 */
trustedProxies: string[]
/**
 * Timeouts for clients.
 */
timeouts: {
/**
 * The time for the head of a request, from its first byte; for the first request of a connection, from the start of the connection.
 */
headers: string
/**
 * The time for a complete request with its body. Set it to the duration of the slowest upload.
 */
request: string
/**
 * The idle time after which the gateway closes a client connection. Set it higher than the idle timeout of the load balancer in front of the gateway.
 */
keepAlive: string
/**
 * The time after which the gateway disconnects a client that reads nothing of its response, or sends nothing of its body.
 */
stalled: string
}
/**
 * Limits for clients.
 */
limits: {
/**
 * The maximum size of a request head.
 */
headerBytes: string
/**
 * The maximum number of headers of a request.
 */
headers: number
/**
 * The maximum number of open client connections. For a further connection, the gateway closes an idle one of the client that holds the most; if there is none, or that client opens it, the further one. It accepts fewer if `ulimit -n` is too low for them.
 */
connections: number
/**
 * The maximum number of requests on one client connection. The last response closes it.
 */
requestsPerConnection: number
/**
 * The maximum size of all bodies in memory together: request bodies with a schema, and responses of login routes. A request that needs more gets 503.
 */
bufferedBodies: string
}
/**
 * Headers of every response of the gateway, refusals included, with their values. A header that the upstream or the gateway sends itself stays as it is.
 */
responseHeaders: {
[k: string]: string
}
/**
 * `draft-11` adds the `RateLimit` and `RateLimit-Policy` fields of the IETF draft to responses of routes with a limit of `count: requests`.
 */
rateLimitHeaders: ("off" | "draft-11")
/**
 * The name of this gateway in the `Via` header of requests to upstreams. A request whose `Via` already has it is a loop and gets 508. Replicas that a loop could connect share one name. By default each process has a random name.
 */
via?: string
/**
 * The shutdown after SIGTERM. See docs/operations.md.
 */
stopping: {
/**
 * The time during which the gateway still accepts connections while /readyz is 503, so that load balancers stop sending requests.
 */
delay: string
/**
 * The time, after the delay, for open requests and WebSockets to end before the gateway closes them.
 */
grace: string
}
}
/**
 * Settings for the reload of a changed manifest.
 */
export interface Reload {
/**
 * A test file, as for `signing-gateway test`, relative to the manifest. The gateway activates a manifest only if it passes these tests, at startup too; `lint` runs them as well. By default there is no self-test.
 */
selfTest?: string
/**
 * The time that WebSockets and event streams have to end after a reload changed their route or its authorization.
 */
grace: string
}
/**
 * A service behind the gateway, with one endpoint (`url`) or several (`urls`).
 */
export interface Upstream {
/**
 * The only endpoint of this upstream: scheme, host and port, without a path and credentials.
 */
url?: string
urls?: UpstreamUrls
/**
 * The `Host` of requests: `client` passes that of the client on, `upstream` is host and port of the endpoint, and any other value is the `Host` itself. The name for TLS is always that of the endpoint.
 */
host: string
/**
 * The method that selects the endpoint of a request: `round-robin` uses them in turn, `least-pending` uses the one with the fewest open requests.
 */
balance: ("round-robin" | "least-pending")
/**
 * Timeouts for the steps of an exchange with this upstream.
 */
timeouts: {
/**
 * The time to open a connection, including name resolution and TLS, and the time that a request may wait for a free connection.
 */
connect: string
/**
 * The time from the last byte of the request to the head of the response.
 */
response: string
/**
 * The time between two chunks of the response body.
 */
idle: string
/**
 * The time between two chunks of an event stream (`text/event-stream`), in place of `idle`. By default there is no limit.
 */
eventStream?: string
/**
 * The time for the complete exchange, from the start of the request to the last byte of the response. By default there is no limit.
 */
total?: string
}
/**
 * Limits of the connection pool of this upstream.
 */
connections: {
/**
 * The maximum number of connections to each endpoint.
 */
limit: number
/**
 * The maximum number of requests that wait for a free connection. Further requests get 503 with `Retry-After`.
 */
queue: number
}
/**
 * Limits of the responses of this upstream.
 */
limits: {
/**
 * The maximum size of a response head: status line and headers, at most 256KB. A response with a larger one gets 502.
 */
responseHeadBytes: string
}
/**
 * If `true`, the gateway sends a request once more when that is safe: nothing of it was sent, or its reused connection closed before the response and the method is idempotent (RFC 9110 section 9.2.2).
 */
retry: boolean
/**
 * Active health checks: at an interval the gateway requests a path of each endpoint, or only opens a connection. An endpoint whose checks fail gets no requests. By default there are no checks, and the requests of the last minute show the health.
 */
health?: {
/**
 * The path of the GET request. A 2xx response is a success.
 */
path?: string
/**
 * In place of `path`: a check opens a connection, for https including the TLS handshake, and closes it. For upstreams without a path for health checks. It does not notice an upstream that accepts connections and never responds.
 */
connect?: true
/**
 * The time between two checks.
 */
interval: string
/**
 * The time for a complete response, or to open the connection.
 */
timeout: string
/**
 * Consecutive successful checks after which an unhealthy endpoint is healthy again. After the start the first one suffices.
 */
healthy: number
/**
 * Consecutive failed checks after which an endpoint gets no more requests.
 */
unhealthy: number
/**
 * If `true`, /readyz is 503 while no endpoint of this upstream passes its checks, and until the first check succeeds. If `false`, it is 200 with the status `degraded`.
 */
required: boolean
}
/**
 * A circuit breaker for each endpoint. After several consecutive failures an endpoint gets no requests for a pause, then one request as a trial. A failure is an exchange without a complete response; a response of any status is not a failure, and neither is anything that the client caused. By default an upstream with several endpoints has a breaker, and requests still go to all of them while every breaker is open; an upstream with one endpoint has none.
 */
breaker?: {
/**
 * `false` disables the breaker, even where it is enabled by default.
 */
enabled: boolean
/**
 * Consecutive failures that open the breaker.
 */
failures: number
/**
 * The time that the breaker stays open before the endpoint gets a trial request.
 */
pause: string
}
/**
 * TLS settings for this upstream. Its URLs must be `https`. The gateway always verifies the certificate.
 */
tls?: {
/**
 * The authorities for the certificate of the upstream, in place of those of the system: a PEM file.
 */
ca?: string
/**
 * The client certificate of the gateway with its chain: a PEM file.
 */
certificate?: string
/**
 * The private key of `certificate`: a PEM file.
 */
key?: string
/**
 * The host name for SNI (RFC 6066 section 3) and for the verification of the certificate. By default the host of the URL.
 */
serverName?: string
}
}
/**
 * Authentication and authorization for protected routes. Required if a route is protected or has `login`.
 */
export interface Auth {
/**
 * The method of token verification: exactly one of `jwt`, `introspection` and `userinfo`. For several issuers, a list of methods with names: a token goes to the method whose issuer its `iss` names, and to no other one.
 * 
 * @minItems 1
 * @maxItems 32
 */
tokens: ({
jwt?: Jwt
introspection?: Introspection
userinfo?: Userinfo
} | TokenMethod[])
/**
 * The allowed roles, or `any` if a valid token is enough. The gateway checks the role of every protected request, and of the tokens in responses of routes with `login`.
 */
role: ("any" | Role)
/**
 * Headers that the gateway sets from verified claims on protected routes, with the JSON Pointers of the claims. It removes headers of clients with these names on all routes.
 */
forward?: {
[k: string]: ClaimHeader
}
/**
 * The realm in the challenges of 401 and 403 responses (RFC 6750 section 3).
 */
realm: string
}
/**
 * Verification of signed JWTs (RFC 7519) with the public keys of the issuer or a shared secret. Set exactly one of `jwks`, `discovery` and `secret`.
 */
export interface Jwt {
/**
 * The public keys of the issuer (RFC 7517): a URL, a file relative to the manifest, or the key set itself.
 */
jwks?: (string | KeySet)
/**
 * The URL of the issuer. The gateway gets the location of the keys from its metadata (OpenID Connect Discovery, RFC 8414). https, or http on loopback.
 */
discovery?: string
/**
 * The secret for HS256, HS384 or HS512, from the environment. It needs at least as many UTF-8 bytes as the hash.
 */
secret?: string
/**
 * The accepted signature algorithms. Tokens with another algorithm are invalid.
 * 
 * @minItems 1
 */
algorithms: ("ES256" | "ES384" | "ES512" | "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "EdDSA" | "Ed25519" | "HS256" | "HS384" | "HS512")[]
/**
 * The required value of `iss`.
 */
issuer: string
/**
 * The required value of `aud`, or a list of which one is required; if `aud` is a list, one of its members.
 */
audience: (string | string[])
/**
 * The required `typ` in the header of the token (RFC 8725 section 3.11). By default the gateway does not check it.
 */
type?: string
requiredClaims: ClaimNames
/**
 * The accepted difference between the clock of the issuer and the clock of this machine.
 */
clockTolerance: string
/**
 * The time to get the keys, including discovery.
 */
timeout: string
/**
 * The time for which the gateway uses keys that are older than ten minutes while it cannot get newer ones.
 */
staleIfError: string
cache: TokenCache
}
/**
 * A set of public keys (RFC 7517 section 5).
 */
export interface KeySet {
/**
 * The keys, with their public members only.
 * 
 * @minItems 1
 */
keys: {

}[]
}
/**
 * The cache of verified tokens.
 */
export interface TokenCache {
/**
 * The maximum time that a token stays in the cache, never beyond its `exp`. With introspection and userinfo, a blocked user keeps access for at most this time.
 */
maxAge: string
/**
 * The maximum number of cached tokens. The gateway removes the least recently used ones first.
 */
maxEntries: number
}
/**
 * Verification of tokens of any format by a request to the issuer for each token (RFC 7662).
 */
export interface Introspection {
/**
 * The introspection endpoint: a URL, or a path of an upstream.
 */
endpoint: (EndpointUrl | UpstreamEndpoint)
/**
 * The client id of the gateway.
 */
clientId: string
/**
 * The client secret of the gateway, from the environment.
 */
clientSecret: string
/**
 * The method to send id and secret (RFC 6749 section 2.3.1): `basic` in a header, `post` in the form.
 */
clientAuthentication: ("basic" | "post")
/**
 * The required `iss` of the introspection response. By default the gateway does not check it.
 */
issuer?: string
/**
 * The required `aud` of the introspection response, or a list of which one is required; if `aud` is a list, one of its members. By default the gateway does not check it.
 */
audience?: (string | string[])
requiredClaims: ClaimNames1
/**
 * The accepted difference between the clock of the issuer and the clock of this machine.
 */
clockTolerance: string
/**
 * The time for one request to the identity service, from connecting to the last byte. For an upstream the limit is at most the sum of its `connect` and `response` timeouts.
 */
timeout: string
/**
 * The time for which a verified token stays valid beyond `cache.maxAge` while its issuer does not respond, never beyond its `exp`. `0s` disables this.
 */
staleIfError: string
cache: TokenCache1
}
/**
 * A path of an upstream. The gateway connects to it with the settings of that upstream.
 */
export interface UpstreamEndpoint {
/**
 * Lower-case words joined by hyphens.
 */
upstream: string
/**
 * Path and query, sent unchanged.
 */
path: string
}
/**
 * The cache of verified tokens.
 */
export interface TokenCache1 {
/**
 * The maximum time that a token stays in the cache, never beyond its `exp`. With introspection and userinfo, a blocked user keeps access for at most this time.
 */
maxAge: string
/**
 * The maximum number of cached tokens. The gateway removes the least recently used ones first.
 */
maxEntries: number
}
/**
 * Verification of tokens of any format by a request to a route that returns the user of the token.
 */
export interface Userinfo {
/**
 * The endpoint to which the gateway sends a GET request with the token of the caller: a URL, or a path of an upstream. 200 with a JSON object means a valid token with these claims; 401 and 403 mean an invalid token.
 */
endpoint: (EndpointUrl | UpstreamEndpoint)
requiredClaims: ClaimNames2
/**
 * The accepted difference between the clock of the issuer and the clock of this machine.
 */
clockTolerance: string
/**
 * The time for one request to the identity service, from connecting to the last byte. For an upstream the limit is at most the sum of its `connect` and `response` timeouts.
 */
timeout: string
/**
 * The time for which a verified token stays valid beyond `cache.maxAge` while its issuer does not respond, never beyond its `exp`. `0s` disables this.
 */
staleIfError: string
cache: TokenCache2
}
/**
 * The cache of verified tokens.
 */
export interface TokenCache2 {
/**
 * The maximum time that a token stays in the cache, never beyond its `exp`. With introspection and userinfo, a blocked user keeps access for at most this time.
 */
maxAge: string
/**
 * The maximum number of cached tokens. The gateway removes the least recently used ones first.
 */
maxEntries: number
}
/**
 * A method with a name: exactly one of `jwt`, `introspection` and `userinfo`. At most one of a list is no `jwt`: it verifies the tokens that name no other issuer of the list.
 */
export interface TokenMethod {
/**
 * Lower-case words joined by hyphens.
 */
name: string
/**
 * The allowed roles of these tokens, or `any` if a valid token is enough; by default `auth.role`.
 */
role?: ("any" | Role)
jwt?: Jwt
introspection?: Introspection
userinfo?: Userinfo
}
/**
 * The claim with the role, and the allowed roles.
 */
export interface Role {
/**
 * The location of the role in the verified claims: a JSON Pointer (RFC 6901).
 */
claim: string
/**
 * If `true`, the claim must be a list of roles, and one of them must be allowed. By default a list is never allowed.
 */
array?: boolean
/**
 * The form of a claim that is a text: `one` role (the default), or `words`, which are roles or scopes between blanks (RFC 6749 section 3.3), one of which must be allowed.
 */
format?: ("one" | "words")
/**
 * The allowed roles, compared exactly. `any` and `*` are no roles.
 * 
 * @minItems 1
 */
allow: string[]
/**
 * The `message` of the 403 response for other roles.
 */
message: string
}
/**
 * The web origins whose pages may read responses in a browser (the CORS protocol of the Fetch standard). By default the gateway adds no CORS headers, and the routes decide about OPTIONS requests.
 */
export interface Cors {
/**
 * The origins whose pages may read responses, as browsers send them: scheme, host and port. `*` alone allows every origin, `null` too; a list allows `null` only if it contains it.
 * 
 * @minItems 1
 */
origins: string[]
/**
 * The methods that a preflight allows. By default the methods of the routes of its path.
 * 
 * @minItems 1
 */
methods?: Method[]
/**
 * The request headers that a preflight allows.
 */
headers: HeaderName[]
/**
 * The response headers that a page may read, in addition to those that are always readable.
 */
exposedHeaders: HeaderName[]
/**
 * If `true`, pages may send cookies and TLS client certificates. A bearer token that a page adds itself does not need this. Not allowed together with `*`.
 */
credentials: boolean
/**
 * The time for which a browser may cache the result of a preflight.
 */
maxAge: string
}
/**
 * Settings of the access log.
 */
export interface Log {
/**
 * The share of requests with a 2xx response that are logged. All others are always logged: refusals, errors, redirects, incomplete responses and reported violations.
 */
sample2xx: number
/**
 * Adds to each line the facts that a replay of the log needs: the hash of the manifest, the role of the caller, the kind of credential, the media type, the names of the query parameters and the host. Never a token, a claim, a value or a body.
 */
replay: boolean
/**
 * The paths in the log, in request events and in spans: `keyed` writes surrogates of the same shape in place of identifiers; `plain` writes each path as sent. By default the paths of public routes with parameters are keyed, because such a path may be the only secret of a download, and the others are plain.
 */
paths?: ("keyed" | "plain")
/**
 * The key of the surrogates. It must come from the environment and have at least 32 characters. Gateways with the same secret write the same surrogate for a value. By default each process has its own random key.
 */
secret?: string
}
/**
 * Settings of distributed tracing (W3C Trace Context). The gateway continues the trace of a client that sends `traceparent`, and starts a new trace for other requests.
 */
export interface Tracing {
/**
 * The share of new traces that the gateway marks as sampled. Most upstreams follow this mark. If an OpenTelemetry SDK is loaded, it records the sampled traces only. A trace of a client keeps the mark of the client.
 */
sample: number
}
/**
 * A Redis server, a group of Redis servers behind Sentinel, or a Redis Cluster.
 */
export interface Store {
/**
 * The URL of a server, or a map for Sentinel, Cluster, an ACL user or TLS files.
 */
redis: (RedisUrl | Redis)
/**
 * The key of the HMAC-SHA256 that replaces e-mail addresses, client addresses and other values before they leave the gateway. It must come from the environment and have at least 16 characters. All gateways of a store need the same secret.
 */
secret: string
/**
 * The time limit of one decision. After repeated failures no request waits for the store until it responds again.
 */
timeout: string
/**
 * The behaviour while the store does not respond: `local` counts in this gateway alone; `refuse` refuses requests with 503.
 */
onFailure: ("local" | "refuse")
}
/**
 * The addresses and the credentials of Redis. Write exactly one of `url`, `sentinels` and `cluster`.
 */
export interface Redis {
/**
 * The URL of a Redis server: `redis://` or, with TLS, `rediss://`, with an optional user, password and database number.
 */
url?: string
/**
 * The URLs of the Sentinel servers, which name the current primary.
 * 
 * @minItems 1
 * @maxItems 32
 */
sentinels?: RedisUrl[]
/**
 * The name of the primary, as the Sentinel servers know it.
 */
name?: string
/**
 * The URLs of some nodes of a Redis Cluster.
 * 
 * @minItems 1
 * @maxItems 32
 */
cluster?: RedisUrl[]
/**
 * The ACL user of the Redis servers. By default the user of the URL. Sentinel servers get the user and the password of their own URL.
 */
username?: string
/**
 * The password. It must come from the environment.
 */
password?: string
/**
 * The certificate authorities of `rediss:` servers: a PEM file, relative to the manifest. By default those of Node.
 */
ca?: string
}
/**
 * A rate limit: which requests are counted together, and how many of them are allowed. A request over the limit gets 429.
 */
export interface RateLimit {
/**
 * The value that identifies who or what is counted. Requests with the same value share one counter. A list combines several values.
 */
key: (RateLimitKeyName | RateLimitKeyPart | (RateLimitKeyName | RateLimitKeyPart)[])
/**
 * The behaviour if a request has no such body member, claim or header: `refuse` it with 400, or `skip` this limit. Required for such keys.
 */
missing?: ("refuse" | "skip")
/**
 * The rate: with `5 per 15m`, 5 requests may come at once, and then one more every 3 minutes (15 minutes divided by 5).
 */
allow: string
/**
 * The number of requests that may come at once after a pause. By default the number in `allow`.
 */
burst?: number
/**
 * `requests` counts every request. `failures` counts a request before it is forwarded, and takes it back if the response is no failure.
 */
count: ("requests" | "failures")
/**
 * The response statuses that are failures, with `count: failures`. By default 401, 403 and 422.
 * 
 * @minItems 1
 */
failures?: number[]
/**
 * Lower-case words joined by hyphens.
 */
store?: string
/**
 * `report` counts requests and records those over the limit in the log and the metrics, but does not refuse them.
 */
mode: ("enforce" | "report")
/**
 * The day until which `mode: report` is intended. After it, `lint` warns.
 */
reportUntil?: string
}
/**
 * A value of the request. Write exactly one of `body`, `claim`, `header` and `client`.
 */
export interface RateLimitKeyPart {
/**
 * The location of a text, number or boolean in the JSON body.
 */
body?: string
/**
 * The location of a text, number or boolean in the claims of the token.
 */
claim?: string
/**
 * The name of a header, in any letter case.
 */
header?: string
/**
 * The address of the client, with another prefix length for IPv6.
 */
client?: {
/**
 * The bits of an IPv6 address that identify a client.
 */
ipv6Prefix: number
}
/**
 * Counts spellings together that upstreams may read as one account. `case`: letter case, Unicode compatibility forms and spaces at the ends. `text`: also characters that cannot be seen. `accents`: also accents.
 */
fold?: ("case" | "text" | "accents")
}
/**
 * Settings of `signing-gateway lint`. They do not affect requests.
 */
export interface Lint {
/**
 * The set of enabled rules. `minimal`: likely security holes and mistakes. `recommended`: these and rules that suit most manifests. `strict`: all rules. `rules` overrides it.
 */
preset: ("minimal" | "recommended" | "strict")
/**
 * The severity of single rules, by their ids. `off` disables a rule. See docs/rules.
 */
rules: {
[k: string]: "off" | "info" | "warning" | "error"
}
}
/**
 * A rule about all requests: each request that meets `when` also meets `require`, whichever route serves it, and however its path is spelled.
 */
export interface Invariant {
/**
 * Lower-case words joined by hyphens.
 */
id: string
/**
 * The requests that the invariant is about; by default all requests. A request must meet every condition.
 */
when: {
/**
 * A path pattern as in a route, or a list of them. A request meets it if its path matches, or if a server could read its path as one that matches.
 */
path?: (string | string[])
/**
 * One method, or a list of methods; by default every method. `GET` includes HEAD.
 */
method?: (Method | Method[])
/**
 * The upstream that receives the request, or a list of upstreams.
 */
upstream?: (Name | Name[])
/**
 * The access of the route that serves the request.
 */
access?: ("public" | "protected")
}
/**
 * The routes whose requests need not meet `require`. A name needs the `why` of the invariant; a map has its own reason.
 * 
 * @minItems 1
 */
except?: (Name | {
/**
 * Lower-case words joined by hyphens.
 */
route: string
/**
 * The reason for the exception.
 */
reason: string
/**
 * The last day of the exception. After it, `lint` reports the exception.
 */
until?: string
})[]
require: Requirement
/**
 * The reason for the invariant. Reports print it.
 */
why?: string
}
/**
 * The requirements for the route that serves the request. It must fulfil each of them.
 */
export interface Requirement {
/**
 * `false`: no route serves such a request.
 */
served?: false
/**
 * The access of the route.
 */
access?: ("public" | "protected")
/**
 * The roles that may pass. A public route lets everybody pass.
 */
roles?: {
/**
 * No other role may pass.
 * 
 * @minItems 1
 */
only?: string[]
/**
 * Each of these roles may pass.
 * 
 * @minItems 1
 */
atLeast?: string[]
}
/**
 * The methods of `auth.tokens` whose tokens may pass. A public route lets everybody pass.
 */
issuers?: {
/**
 * Tokens of no other method may pass.
 * 
 * @minItems 1
 */
only: Name[]
}
/**
 * `any`: the route has a rate limit that refuses requests. A list: it has each of these rate limits.
 */
rateLimit?: ("any" | Name[])
/**
 * The rules for bodies. A request with GET or HEAD has none.
 */
body?: {
/**
 * `true`: the body has a schema, and the gateway refuses violations.
 */
schema?: true
/**
 * The largest limit of a body.
 */
maxBytes?: string
/**
 * The gateway accepts no other media types.
 * 
 * @minItems 1
 */
types?: MediaType[]
}
/**
 * `true`: the route has rules for parameters, and the gateway refuses violations.
 */
parameters?: true
/**
 * `enforce`: the route refuses violations instead of reporting them.
 */
validation?: "enforce"
/**
 * The upstream that receives the request.
 */
upstream?: {
/**
 * No other upstream receives the request.
 * 
 * @minItems 1
 */
only: Name[]
}
/**
 * `true`: the gateway connects to all endpoints of the upstream with TLS.
 */
tls?: true
/**
 * The longest time limit of a complete exchange. A route without such a limit does not fulfil it.
 */
timeout?: string
/**
 * The web origins whose pages may read responses.
 */
cors?: {
/**
 * No other origin is allowed.
 * 
 * @minItems 1
 */
origins: string[]
}
/**
 * `false`: the route accepts no WebSocket handshake. `true`: it does.
 */
websocket?: boolean
}
/**
 * The default of `routes[].requestHeaders`.
 */
export interface RequestHeaderRules {
/**
 * Headers to set, with their values. They replace all existing values.
 */
set: {
[k: string]: string
}
/**
 * Headers to remove.
 */
remove: string[]
/**
 * Headers with which a client may forge its address or identity, or override the method, path, host or scheme of a request. The gateway removes all such headers unless they are listed here.
 */
keep: string[]
}
/**
 * The default of `routes[].responseHeaders`.
 */
export interface HeaderRules {
/**
 * Headers to set, with their values. They replace all existing values.
 */
set: {
[k: string]: string
}
/**
 * Headers to remove.
 */
remove: string[]
}
/**
 * A route: the requests that it matches, the allowed callers, and the upstream.
 */
export interface RouteEntry {
/**
 * Lower-case words joined by hyphens.
 */
id: string
/**
 * One method, a list of methods, or `any`. A route with GET accepts HEAD too.
 */
method: (("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "any") | Method[])
/**
 * The path pattern, matched without decoding. `{name}` matches one segment; `/**` at the end matches any number of segments, including none. The most specific pattern wins.
 */
path: string
/**
 * Lower-case words joined by hyphens.
 */
upstream?: string
respond?: Respond
redirect?: Redirect
/**
 * `public`: everybody. `protected`: callers with a valid token and an allowed role. There is no default.
 */
access: ("public" | "protected")
/**
 * The time for a complete exchange of this route, from the start of the request to the last byte of the response. It replaces `response` and `total` of the upstream.
 */
timeout?: string
/**
 * The handling of `%2F` in the path. `refuse`: 400, as for every ambiguous path. `keep`: the encoded slash stays part of its segment, for upstreams that distinguish it from a slash.
 */
encodedSlash: ("refuse" | "keep")
/**
 * Replaces a prefix of the path in requests to the upstream, which gets the part that was removed in `X-Forwarded-Prefix`. By default the upstream gets the path unchanged.
 */
upstreamPath?: {
/**
 * The prefix to replace: complete segments at the start of `path`, without `{name}`. `/` is the empty prefix.
 */
replace: string
/**
 * The new prefix. `/` removes the prefix.
 */
with: string
/**
 * If `true`, the gateway maps paths in `Location`, `Content-Location` and `Set-Cookie` of responses back: `with` becomes `replace`. Paths of other hosts, and those outside of `with`, stay the same.
 */
rewriteResponses: boolean
}
requestHeaders?: RequestHeaderRules1
/**
 * Further headers that this route sets from verified claims. `false` in place of the map, or of a claim, turns off all or one of `auth.forward`.
 */
forward?: (false | {
[k: string]: false | ClaimHeader
})
responseHeaders?: HeaderRules1
/**
 * The roles that may use this route, a subset of `auth.role.allow`, or `any` if a valid token is enough. On a route with `login` also the roles that may log in. By default all of `auth.role.allow`.
 */
roles?: ("any" | string[])
/**
 * The methods of `auth.tokens` whose tokens this route accepts, by name. By default only the first method of the list.
 * 
 * @minItems 1
 */
issuers?: Name[]
/**
 * The rate limits of this route, by their names in `rateLimits`. A request must be within all of them.
 * 
 * @maxItems 16
 */
rateLimits?: Name[]
/**
 * `true` allows WebSocket handshakes (RFC 6455) on this route, with the same path, token and role checks as for other requests. A map with `origins` also restricts the web origins. By default an upgrade is handled as a plain request.
 */
websocket: (boolean | {
/**
 * The origins whose pages may open a WebSocket, as browsers send them; `*` alone allows every origin. Without a list, pages of the same host and of `cors.origins` may. The gateway accepts a handshake without `Origin`, because browsers always send it.
 * 
 * @minItems 1
 */
origins: string[]
})
/**
 * Role checks at login: the gateway examines every response of the route. It forwards a token at a configured location only if the token verifies and its role is allowed, and a JWT at another location only if its role is allowed or the gateway would never accept it. With `{}` every JWT in the response must verify.
 */
login?: {
/**
 * The location of the token in a JSON response: a JSON Pointer (RFC 6901), or a list of them. A response without a token there, such as an MFA challenge, is forwarded unchanged.
 */
token?: (Pointer | Pointer[])
/**
 * The name of a header, in any letter case.
 */
header?: string
/**
 * Lower-case words joined by hyphens.
 */
issuer?: string
/**
 * The maximum size of the response, as sent and decoded.
 */
maxBytes: string
}
/**
 * The handling of requests with invalid parameters or an invalid body. `enforce`: refuse them. `report`: forward them, and log the violations. `maxBytes` applies in both modes.
 */
validation: ("enforce" | "report")
/**
 * Schemas for the `{name}` segments of the path.
 */
params?: {
/**
 * A JSON Schema for each name. It validates the decoded segment, a string. If the schema requires a number or a boolean, the gateway converts the string for the validation.
 */
properties: {
[k: string]: JsonSchema
}
}
/**
 * Schemas for the query parameters. The gateway forwards the query unchanged.
 */
query?: {
/**
 * A JSON Schema for each name. It validates every decoded value, a string. If the schema requires a number or a boolean, the gateway converts the string for the validation.
 */
properties: {
[k: string]: JsonSchema
}
/**
 * The names of the required parameters.
 */
required: string[]
/**
 * The handling of parameters without a schema. `allow`: forward them. `refuse`: 400.
 */
unknown: ("allow" | "refuse")
/**
 * The handling of parameters that occur more than once. `allow`: validate each value. `refuse`: 400. A list: only these parameters may occur more than once.
 */
repeated: (("allow" | "refuse") | string[])
}
/**
 * Schemas for single request headers. Other headers are not validated.
 */
headers?: {
/**
 * A JSON Schema for each name. Names match in any letter case. The schema validates every line of that header, a string. If the schema requires a number or a boolean, the gateway converts the string for the validation.
 */
properties: {
[k: string]: JsonSchema
}
/**
 * The names of the required headers.
 */
required: string[]
}
/**
 * Rules for the request body. By default the gateway streams any body.
 */
body?: {
/**
 * The accepted media types, with any parameters; `image/*` accepts every image type. Other types and content encodings get 415. By default every type; with a schema, application/json and types that end in +json.
 * 
 * @minItems 1
 */
types?: MediaType[]
/**
 * The JSON Schema (2020-12) of a JSON body. The gateway reads and validates the complete body before it forwards any of it.
 */
schema?: boolean | Readonly<Record<string, unknown>>
/**
 * The parts of a multipart/form-data body (RFC 7578). Other parts are refused. The gateway validates them while it streams the body.
 */
multipart?: {
/**
 * The rules for each part, by its name.
 */
parts: {
[k: string]: Part
}
}
/**
 * The format of a text/csv body (RFC 4180). The gateway validates it while it streams the body.
 */
csv?: {
/**
 * The columns of the first row, exactly and in this order.
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
 * The maximum size of the body.
 */
maxBytes: string
}
}
/**
 * A response of the gateway itself, in place of `upstream`.
 */
export interface Respond {
/**
 * The status of the response. For a status of redirects use `redirect`.
 */
status: number
/**
 * Headers of the response. `Content-Type` is `text/plain; charset=utf-8` by default if there is a body, and `Cache-Control` is `no-store` by default on protected routes.
 */
headers: {
[k: string]: string
}
/**
 * The body of the response, sent as it is: at most 64 kB of text, without variables.
 */
body: string
}
/**
 * A redirect of the gateway itself, in place of `upstream`.
 */
export interface Redirect {
/**
 * The new location: a path, or a URL with a fixed host. `{name}` is the segment of that name in `path`, and `{rest}` is the part that `**` matches, both as sent.
 */
to: string
/**
 * The status of the redirect. 301 and 308 are permanent, so browsers keep them. With 307 and 308 a client repeats its method and its body.
 */
status: (301 | 302 | 303 | 307 | 308)
/**
 * `keep` adds the query of the request to the new location, `drop` removes it.
 */
query: ("keep" | "drop")
}
/**
 * Request headers that the gateway sets, removes or keeps before it forwards a request.
 */
export interface RequestHeaderRules1 {
/**
 * Headers to set, with their values. They replace all existing values.
 */
set: {
[k: string]: string
}
/**
 * Headers to remove.
 */
remove: string[]
/**
 * Headers with which a client may forge its address or identity, or override the method, path, host or scheme of a request. The gateway removes all such headers unless they are listed here.
 */
keep: string[]
}
/**
 * Response headers that the gateway sets or removes. Refusals are not changed.
 */
export interface HeaderRules1 {
/**
 * Headers to set, with their values. They replace all existing values.
 */
set: {
[k: string]: string
}
/**
 * Headers to remove.
 */
remove: string[]
}
/**
 * A part of a multipart/form-data body.
 */
export interface Part {
/**
 * The accepted media types. A part without a type is text/plain. By default every type.
 * 
 * @minItems 1
 */
types?: MediaType[]
/**
 * The maximum size of one part. The limit of the complete body applies too.
 */
maxBytes: string
/**
 * The maximum number of parts with this name.
 */
maxCount: number
/**
 * If `true`, the body must have this part.
 */
required: boolean
}
