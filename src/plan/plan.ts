import type { Duplex } from 'node:stream';

/**
 * What a request needs, made once from a manifest. A plan is frozen: the gateway changes by replacing it.
 * These are the only things of this folder that the gateway's code may know.
 */
export interface Plan {
  /** SHA-256 of the manifest's text, in hex. */
  readonly hash: string;
  readonly listen: ListenAddress;
  readonly admin: AdminSettings | undefined;
  readonly server: ServerSettings;
  readonly upstreams: readonly Upstream[];
  /** In the manifest's order. */
  readonly routes: readonly Route[];
  readonly router: Router;
  readonly reload: ReloadSettings;
  /** Present as soon as one route is protected or has a login gate. */
  readonly auth: Auth | undefined;
  /** All schemas as they are written, for who describes the routes; references stay inside of it. */
  readonly schemas: Readonly<Record<'schemas' | 'routes' | 'files', unknown>> | undefined;
  /** The share of requests answered 2xx that have a line in the log: from 0 to 1. */
  readonly sample2xx: number;
  /** The share of the traces begun here that are marked as sampled: from 0 to 1. */
  readonly sampledTraces: number;
  /** `undefined`: nothing is done about other origins. */
  readonly cors: Cors | undefined;
}

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Where operators ask, and who may: what is stated is asked for. */
export interface AdminSettings extends ListenAddress {
  /** Equal for equal definitions. Says nothing of the token. */
  readonly key: string;
  /** Whether a token that was shown is the one; `undefined`: none is asked for. */
  readonly acceptsToken: ((shown: string) => boolean) | undefined;
  /** `undefined`: plain HTTP. */
  readonly tls: AdminTls | undefined;
}

/** A certificate with its key, and with `ca` the authorities by which clients are known. */
export interface AdminTls {
  /** The PEM texts. A function, so that whoever prints a plan does not print a key. */
  readonly pem: () => { readonly cert: string; readonly key: string; readonly ca?: string };
}

/** How a plan is put in force in place of another one. */
export interface ReloadSettings {
  /** A test file that the plan must pass, by its path relative to the manifest. */
  readonly selfTest: string | undefined;
  /** How long WebSockets and event streams of a route that is not any more what it was go on. */
  readonly graceMs: number;
}

/** How clients are served, whatever they ask for. */
export interface ServerSettings {
  /** Equal for equal definitions, by the keys of `server` in the manifest. */
  readonly keys: Readonly<Record<'tls' | 'trustedProxies' | 'timeouts' | 'limits' | 'stopping', string>>;
  /** `undefined`: plain HTTP. */
  readonly tls: ServerTls | undefined;
  /** Whether an address is that of a trusted proxy; `undefined`: no peer is trusted. */
  readonly trustedProxies: ((address: string) => boolean) | undefined;
  /** Never longer than `requestTimeoutMs`. */
  readonly headersTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
  /** How long a client may take nothing of its answer, or send nothing of its body. */
  readonly stalledTimeoutMs: number;
  /** Of the request line and the headers together. */
  readonly headerLimitBytes: number;
  readonly maxHeaders: number;
  readonly maxConnections: number;
  readonly maxRequestsPerConnection: number;
  /** How many bytes of bodies may be in memory at once. */
  readonly bufferLimitBytes: number;
  /** For how long, once the process was asked to stop, connections are taken still, and from then on requests may end. */
  readonly stopping: { readonly delayMs: number; readonly graceMs: number };
}

/** A certificate with its chain, and its private key. */
export interface ServerTls {
  /** The PEM texts. A function, so that whoever prints a plan does not print a key. */
  readonly pem: () => { readonly cert: string; readonly key: string };
}

export interface Upstream {
  readonly id: string;
  /** Equal for equal definitions: what is kept for an upstream, connections above all, is kept by this. */
  readonly key: string;
  /** At least one. */
  readonly endpoints: readonly Endpoint[];
  readonly balance: 'round-robin' | 'least-pending';
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** `undefined`: an exchange may take as long as it goes on. */
  readonly totalTimeoutMs: number | undefined;
  /** How many connections to each target. */
  readonly connectionLimit: number;
  /** How many requests may wait for one. */
  readonly queueLimit: number;
  readonly retry: boolean;
  readonly health: HealthCheckSettings | undefined;
  readonly breaker: BreakerSettings | undefined;
  /** Behind a function, so that a plan that is printed shows no key. */
  readonly tls: () => UpstreamTls;
  /** Equal for equal certificates and keys. */
  readonly tlsKey: string;
  /** In place of the network: makes a connection to a target, by its origin. */
  readonly connect?: (origin: string) => Duplex;
}

export interface Endpoint {
  readonly url: URL;
  /** The origin as it may be printed: `${CONTACTS_URL}` where it came from the environment. No two of an upstream are equal. */
  readonly label: string;
  /** Whose certificate is asked for (SNI, RFC 6066 section 3); `undefined` for plain HTTP and for an address. */
  readonly serverName: string | undefined;
}

export interface HealthCheckSettings {
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** So many good answers in a row make a target well again, and so many bad ones unwell. */
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  /** While no target is well, the gateway says that it should get no requests. */
  readonly required: boolean;
}

export interface BreakerSettings {
  /** Consecutive failures that open the breaker. */
  readonly failures: number;
  readonly pauseMs: number;
  /** True if the manifest does not mention it. Default breakers never take all endpoints out of service. */
  readonly isDefault: boolean;
}

/** PEM texts, as the TLS library takes them; an absent one means what the library does by itself. */
export interface UpstreamTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface Route {
  readonly id: string;
  /** Equal for equal definitions. */
  readonly key: string;
  /** Upper case, sorted; HEAD among them where GET is, unless another route has it for the same path. */
  readonly methods: readonly string[];
  /** As written in the manifest. */
  readonly path: string;
  readonly access: 'public' | 'protected';
  /** How callers are judged here, and tokens that a login gives out; present when the route is protected or has a login gate. */
  readonly auth: Auth | undefined;
  readonly upstream: Upstream;
  /** From the request's turn to the answer's last byte; `undefined`: as the upstream says. */
  readonly timeoutMs: number | undefined;
  /** An encoded slash may stand in the path. */
  readonly keepsEncodedSlash: boolean;
  /** The path that the upstream is asked for, by one that was matched; `undefined`: the same. */
  readonly upstreamPath: ((path: string) => string) | undefined;
  readonly requestHeaders: HeaderRules | undefined;
  readonly responseHeaders: HeaderRules | undefined;
  /** A WebSocket handshake may become a tunnel here. */
  readonly websocket: boolean;
  /** Returns true if a page of this origin may open a WebSocket; `undefined` where no handshake is taken. */
  readonly allowsOrigin: ((origin: string, isSameHost: boolean) => boolean) | undefined;
  readonly login: LoginRule | undefined;
  /** `report`: what does not fit is let through, and told in the log only. */
  readonly validation: 'enforce' | 'report';
  /** Whether a name is the manifest's own: of the names in a client's body no others are put in the log. */
  readonly isManifestName: (name: string) => boolean;
  /** What the path's parameters, the query and the headers must be; `undefined`: anything. */
  readonly parameters: ParameterRules | undefined;
  readonly body: BodyRule | undefined;
}

/** Validates what comes before the body. Pointers begin with `/params`, `/query` or `/headers`. */
export interface ParameterRules {
  /**
   * Validates at once, however long that takes.
   *
   * @param path that the path guard has passed, still encoded
   * @param query with its question mark, or empty
   * @param headers names and values in turn, as they came
   */
  readonly validate: (path: string, query: string, headers: readonly string[]) => readonly Violation[];
  /** The same on the serving thread: work that would hold it for too long goes to another thread. */
  readonly validateWithinBudget: (
    path: string,
    query: string,
    headers: readonly string[],
    client: string,
  ) => readonly Violation[] | CancellablePromise;
}

export interface Router {
  /** The route of a path that the path guard has passed, still encoded; `undefined` when there is none. */
  readonly match: (method: string, path: string) => Route | undefined;
  /** The methods that some route has for a path, sorted; empty when no route knows the path. */
  readonly allowedMethods: (path: string) => readonly string[];
  /** Whether the path guard may pass an encoded slash at all: some route keeps it. No other route matches such a path. */
  readonly keepsEncodedSlash: boolean;
}

/** Changes that a route makes to the headers of one direction. */
export interface HeaderRules {
  /** Whether a header of this name, as it was written, goes no further: it is removed, or set anew. */
  readonly drops: (written: string) => boolean;
  /** Returns true for an override header of a request that the route lets through; `undefined`: it lets none through. */
  readonly keeps: ((written: string) => boolean) | undefined;
  /** What is said in addition: names and values in turn. */
  readonly set: readonly string[];
}

export interface BodyRule {
  /** A longer body is refused as soon as that is known. */
  readonly limitBytes: number;
  /** What the body may be; `undefined`: anything. */
  readonly types: MediaTypes | undefined;
  /**
   * Present when the body must be JSON: reads and validates the whole of it, in another thread where that takes long.
   * Takes over the buffer: nothing else may use its memory.
   */
  readonly validate: ((body: Buffer, client?: string) => ValidationResult | CancellablePromise) | undefined;
  /** What looks at a streamed body of this Content-Type on its way; `undefined`: nothing does. */
  readonly streamValidatorFor: ((contentType: string) => StreamValidator | undefined) | undefined;
}

/** A body that was judged. */
export interface ValidationResult {
  /** None when it fits. */
  readonly violations: readonly Violation[];
  /** The bytes that were judged, to be used from now on; `undefined`: they are lost, and there are faults. */
  readonly body: Buffer | undefined;
  /** Nothing was validated, since too much waits for the threads. */
  readonly overload?: Overload;
}

/** Work that another thread does. */
export interface CancellablePromise<Result = ValidationResult> extends Promise<Result> {
  /** Drops the work, for a client that has left. */
  readonly cancel: () => void;
}

/** Why work had no turn in another thread: too much waits, too much of the same client, or it waited for too long. */
export type Overload = 'queue_full' | 'queue_share' | 'queue_wait';

/** Looks at one body, piece by piece, and keeps hardly anything of it. */
export interface StreamValidator {
  /** The next piece, of any length. With a fault nothing of it may go on, and nothing that follows. */
  write(piece: Buffer): Violation | undefined;
  /** There are no more pieces. */
  end(): Violation | undefined;
}

/** Some media types (RFC 9110 section 8.3.1). */
export interface MediaTypes {
  /** Whether a Content-Type is one of them. */
  readonly includes: (contentType: string) => boolean;
  /** The value of an `Accept` that lists them; `undefined` where clients may not see them. */
  readonly acceptHeader: string | undefined;
  /** What a client is told that sent another. */
  readonly refusalDetail: string;
}

/** What is wrong with a request, without a value of it. */
export interface Violation {
  /** JSON Pointer (RFC 6901) into the body, or to a parameter: `/query/page`. */
  readonly pointer: string;
  readonly message: string;
  /** What the schema itself says of the place: its `errorMessage`, else its `description`. */
  readonly description?: string;
}

/** A response in which tokens are looked for. */
export interface LoginResponse {
  readonly status: number;
  readonly reason: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** Decoded. */
  readonly body: Buffer;
  /** As the upstream sent it: some formats carry bytes that decoders pass over. */
  readonly encodedBody: Buffer;
}

/** The tokens of a response. */
export interface ResponseTokens {
  /** Tokens at the stated places: none in an MFA challenge, say. Each must verify; `undefined` stands for one that is no text. */
  readonly declared: readonly (string | undefined)[];
  /** JWTs at no stated place: one that the gateway would accept must have an allowed role, and others may pass. */
  readonly undeclared: readonly string[];
}

/** Why tokens cannot be looked for, or not all of them: the body must be JSON with one reading, or there are too many. */
export type LoginErrorCode = 'login_response_not_json' | 'login_tokens_too_many';

/** The party that bytes in memory are counted for. */
export interface BufferOwner {
  /** The client's address. */
  readonly client: string;
  /** Counts bytes before they are held. Throws if there is no room for them. */
  reserve(bytes: number): void;
}

/** A search in another thread. */
export interface TokenSearchResult {
  /** `undefined` if the search had no turn, or took too long. */
  readonly result: ResponseTokens | LoginErrorCode | undefined;
  readonly overload: Overload | undefined;
}

export interface LoginRule {
  /** True if tokens are looked for in bodies. */
  readonly isBodySearched: boolean;
  /** Finds the tokens of a response, in another thread where that takes long. */
  readonly findTokens: (
    response: LoginResponse,
    holder: BufferOwner,
  ) => ResponseTokens | LoginErrorCode | CancellablePromise<TokenSearchResult>;
  /** How long the answer may be, as sent and decoded. */
  readonly limitBytes: number;
}

/** What pages of other origins may do in a browser: the CORS protocol of the Fetch standard. */
export interface Cors {
  /** Equal for equal definitions. */
  readonly key: string;
  /** What an answer to a page of this origin says, names and values in turn: nothing when the origin is not allowed. */
  readonly headersFor: (origin: string | undefined) => readonly string[];
  /** What the answer to a preflight says besides. */
  readonly preflightHeaders: readonly string[];
  /** The methods that a preflight allows; `undefined`: those of the path's routes. */
  readonly methods: readonly string[] | undefined;
  /** Whether answers differ by origin, so that a cache must keep them apart. */
  readonly isOriginDependent: boolean;
}

export interface Auth {
  readonly verifier: Verifier;
  readonly role: RoleRule;
  /** How every challenge begins: the scheme and the realm (RFC 6750 section 3). */
  readonly challengePrefix: string;
}

export interface Verifier {
  /** Equal for equal definitions: a verifier outlives a reload that did not change it. Says nothing of them. */
  readonly key: string;
  /** Returns the principal of a token that was verified before and is still good, at once. */
  readonly cached: (token: string) => Principal | undefined;
  readonly status: VerifierStatus;
  /** Sees that there are keys, where tokens are verified by keys that are fetched. Never rejects. */
  readonly prepare: () => Promise<void>;
  /**
   * Verifies a token that is not cached. Clients with the same token share one verification.
   *
   * @param client waits for it; left out: the gateway itself, which has no share to keep to
   */
  readonly verify: (token: string, client?: VerificationClient) => Promise<VerificationResult>;
}

/** A client that waits for a token to be verified. */
export interface VerificationClient {
  /** Clients with the same key share what one client may use. */
  readonly key: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

export interface VerifierStatus {
  /**
   * `none`: tokens are verified without; `unknown`: there were never any; `stale`: they are too old to serve, and there are
   * no newer ones to be had.
   */
  readonly keys: 'none' | 'known' | 'unknown' | 'stale';
  /** Why the last question for keys had no answer; `null` when it had one. */
  readonly cause: string | null;
  /** Tokens that are remembered as good, and as refused. */
  readonly good: number;
  readonly refused: number;
  /** Tokens that are being verified. */
  readonly verifying: number;
  /** How often a token was remembered as good, and how often it was not. */
  readonly hits: number;
  readonly misses: number;
  /** What came of those that were not remembered. */
  readonly verdicts: ReadonlyMap<TokenErrorCode | 'good', number>;
  /** How often keys were fetched, and how often there was no answer. */
  readonly fetched: number;
  readonly unfetched: number;
}

export type VerificationResult = { readonly principal: Principal } | RejectedToken;

export interface RejectedToken {
  readonly code: TokenErrorCode;
  /** For the log only: why no answer could be had of the issuer. */
  readonly cause?: string;
}

/** Why a token was not accepted; for the log only. `keys_unavailable` is no fault of the token's. */
export type TokenErrorCode =
  | 'token_malformed'
  | 'token_inactive'
  | 'token_expired'
  | 'token_not_yet_valid'
  | 'type_wrong'
  | 'issuer_wrong'
  | 'audience_wrong'
  | 'algorithm_not_allowed'
  | 'key_unknown'
  | 'signature_wrong'
  | 'claims_wrong'
  | 'keys_unavailable';

/** A caller whose token was verified. Only a verifier makes one. */
export interface Principal {
  readonly claims: Readonly<Record<string, unknown>>;
  /** For the log: who it is, without saying so. 16 hex digits of the SHA-256 of `sub`; `undefined` without one. */
  readonly subject: string | undefined;
  /** Milliseconds since the epoch: from then on the token is verified anew. */
  readonly expiresAt: number;
}

export interface RoleRule {
  /** Equal for rules that let the same callers in. */
  readonly key: string;
  readonly allows: (principal: Principal) => boolean;
  /** The roles of which one is required. */
  readonly required: readonly string[];
  /** The same as they may be printed. */
  readonly redactedRoles: readonly string[];
  /** The text of the 403, word for word; `undefined`: it came from the environment, and clients may not see it. */
  readonly message: string | undefined;
}
