// Made from schema/gateway.schema.json by `npm run generate`. Do not edit.
export type Include = (string | string[])
export type ListenerAddress = string
export type Address = string
export type UpstreamUrl = string
export type UpstreamUrls = UpstreamUrl[]
export type Timeout = string
export type File = string
export type ClaimNames = string[]
export type EndpointUrl = string
export type Name = string
export type ClaimNames1 = string[]
export type ClaimNames2 = string[]
export type ClaimHeader = (string | {
claim: string
missing?: ("refuse" | "omit")
})
export type Method = ("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS")
export type HeaderName = string
export type RedisUrl = string
export type RateLimitKeyName = ("client" | "subject" | "route")
export type Pointer = string
export type Rate = string
export type Count = number
export type JsonSchema = boolean | Readonly<Record<string, unknown>>
export type Size = string
export type MediaType = string
export type Duration = string
export type Issuers = Name[]
export type RateLimits = Name[]
export type WebSocket = (boolean | {
origins: string[]
})

export interface Manifest {
version: 1
include?: Include
listen: (ListenerAddress | Listener)
admin?: (Address | Admin)
server: Server
reload: Reload
upstreams: {
[k: string]: Upstream
}
auth?: Auth
cors?: Cors
log: Log
tracing: Tracing
stores: {
[k: string]: Store
}
rateLimits: {
[k: string]: RateLimit
}
schemas: {
[k: string]: JsonSchema
}
lint: Lint
invariants: (Invariant[] | {
file: string
})
defaults?: {
timeout?: Timeout
roles?: ("any" | string[])
issuers?: Issuers
rateLimits?: RateLimits
requestHeaders?: RequestHeaderRules
responseHeaders?: HeaderRules
body?: {
maxBytes: Size
}
validation?: ("enforce" | "report")
websocket?: WebSocket
}
routes: RouteEntry[]
}
export interface Listener {
address: ListenerAddress
mode?: string
}
export interface Admin {
listen: Address
token?: string
tls?: {
certificate: string
key: string
clientCa?: string
}
}
export interface Server {
workers: (number | string)
tls?: {
certificate: string
key: string
}
trustedProxies: string[]
timeouts: {
headers: string
request: string
keepAlive: string
stalled: string
}
limits: {
headerBytes: string
headers: number
connections: number
requestsPerConnection: number
bufferedBodies: string
}
responseHeaders: {
[k: string]: string
}
rateLimitHeaders: ("off" | "draft-11")
via?: string
stopping: {
delay: string
grace: string
}
}
export interface Reload {
selfTest?: string
grace: string
}
export interface Upstream {
url?: UpstreamUrl
urls?: UpstreamUrls
host: string
balance: ("round-robin" | "least-pending")
timeouts: {
connect: string
response: string
idle: string
eventStream?: Timeout
total?: Timeout
}
connections: {
limit: number
queue: number
}
limits: {
responseHeadBytes: string
}
retry: boolean
health?: {
path?: string
connect?: true
interval: string
timeout: string
healthy: number
unhealthy: number
required: boolean
}
breaker?: {
enabled: boolean
failures: number
pause: string
}
tls?: {
ca?: File
certificate?: File
key?: File
serverName?: string
}
}
export interface Auth {
tokens: ({
jwt?: Jwt
introspection?: Introspection
userinfo?: Userinfo
} | TokenMethod[])
role: ("any" | Role)
forward?: {
[k: string]: ClaimHeader
}
realm: string
}
export interface Jwt {
jwks?: (string | KeySet)
discovery?: string
secret?: string
algorithms: ("ES256" | "ES384" | "ES512" | "RS256" | "RS384" | "RS512" | "PS256" | "PS384" | "PS512" | "EdDSA" | "Ed25519" | "HS256" | "HS384" | "HS512")[]
issuer: string
audience: (string | string[])
type?: string
requiredClaims: ClaimNames
clockTolerance: string
timeout: string
staleIfError: string
cache: TokenCache
}
export interface KeySet {
keys: {

}[]
}
export interface TokenCache {
maxAge: string
maxEntries: number
}
export interface Introspection {
endpoint: (EndpointUrl | UpstreamEndpoint)
clientId: string
clientSecret: string
clientAuthentication: ("basic" | "post")
issuer?: string
audience?: (string | string[])
requiredClaims: ClaimNames1
clockTolerance: string
timeout: string
staleIfError: string
cache: TokenCache1
}
export interface UpstreamEndpoint {
upstream: Name
path: string
}
export interface TokenCache1 {
maxAge: string
maxEntries: number
}
export interface Userinfo {
endpoint: (EndpointUrl | UpstreamEndpoint)
requiredClaims: ClaimNames2
clockTolerance: string
timeout: string
staleIfError: string
cache: TokenCache2
}
export interface TokenCache2 {
maxAge: string
maxEntries: number
}
export interface TokenMethod {
name: Name
role?: ("any" | Role)
jwt?: Jwt
introspection?: Introspection
userinfo?: Userinfo
}
export interface Role {
claim: string
array?: boolean
format?: ("one" | "words")
allow: string[]
message: string
}
export interface Cors {
origins: string[]
methods?: Method[]
headers: HeaderName[]
exposedHeaders: HeaderName[]
credentials: boolean
maxAge: string
}
export interface Log {
sample2xx: number
replay: boolean
paths?: ("keyed" | "plain")
secret?: string
}
export interface Tracing {
sample: number
}
export interface Store {
redis: (RedisUrl | Redis)
secret: string
timeout: string
onFailure: ("local" | "refuse")
}
export interface Redis {
url?: RedisUrl
sentinels?: RedisUrl[]
name?: string
cluster?: RedisUrl[]
username?: string
password?: string
ca?: string
}
export interface RateLimit {
key: (RateLimitKeyName | RateLimitKeyPart | (RateLimitKeyName | RateLimitKeyPart)[])
missing?: ("refuse" | "skip")
allow: Rate
burst?: Count
count: ("requests" | "failures")
failures?: number[]
store?: Name
mode: ("enforce" | "report")
reportUntil?: string
}
export interface RateLimitKeyPart {
body?: Pointer
claim?: Pointer
header?: HeaderName
client?: {
ipv6Prefix: number
}
fold?: ("case" | "text" | "accents")
}
export interface Lint {
preset: ("minimal" | "recommended" | "strict")
rules: {
[k: string]: "off" | "info" | "warning" | "error"
}
}
export interface Invariant {
id: Name
when: {
path?: (string | string[])
method?: (Method | Method[])
upstream?: (Name | Name[])
access?: ("public" | "protected")
issuer?: (Name | Name[])
}
except?: (Name | {
route: Name
reason: string
until?: string
})[]
require: Requirement
why?: string
}
export interface Requirement {
served?: false
access?: ("public" | "protected")
roles?: {
only?: string[]
atLeast?: string[]
}
issuers?: {
only: Name[]
}
rateLimit?: ("any" | Name[])
body?: {
schema?: true
maxBytes?: Size
types?: MediaType[]
}
parameters?: true
validation?: "enforce"
upstream?: {
only: Name[]
}
tls?: true
timeout?: Duration
cors?: {
origins: string[]
}
websocket?: boolean
}
export interface RequestHeaderRules {
set: {
[k: string]: string
}
remove: string[]
keep: string[]
}
export interface HeaderRules {
set: {
[k: string]: string
}
remove: string[]
}
export interface RouteEntry {
id: Name
method: (("GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "any") | Method[])
path: string
upstream?: Name
respond?: Respond
redirect?: Redirect
access: ("public" | "protected")
timeout?: Timeout
encodedSlash: ("refuse" | "keep")
upstreamPath?: {
replace: string
with: string
rewriteResponses: boolean
}
requestHeaders?: RequestHeaderRules
forward?: (false | {
[k: string]: false | ClaimHeader
})
responseHeaders?: HeaderRules
roles?: ("any" | string[])
issuers?: Issuers
rateLimits?: RateLimits
websocket: (boolean | {
origins: string[]
})
login?: {
token?: (Pointer | Pointer[])
header?: HeaderName
issuer?: Name
maxBytes: string
}
validation: ("enforce" | "report")
params?: {
properties: {
[k: string]: JsonSchema
}
}
query?: {
properties: {
[k: string]: JsonSchema
}
required: string[]
unknown: ("allow" | "refuse")
repeated: (("allow" | "refuse") | string[])
}
headers?: {
properties: {
[k: string]: JsonSchema
}
required: string[]
}
body?: {
types?: MediaType[]
schema?: JsonSchema
multipart?: {
parts: {
[k: string]: Part
}
}
csv?: {
header: string[]
delimiter: string
}
maxBytes: string
}
}
export interface Respond {
status: number
headers: {
[k: string]: string
}
body: string
}
export interface Redirect {
to: string
status: (301 | 302 | 303 | 307 | 308)
query: ("keep" | "drop")
}
export interface Part {
types?: MediaType[]
maxBytes: string
maxCount: number
required: boolean
}
