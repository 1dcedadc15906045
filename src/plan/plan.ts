/**
 * What a request needs, made once from a manifest. A plan is frozen: the gateway changes by replacing it.
 * These are the only things of this folder that the gateway's code may know.
 */
export interface Plan {
  /** SHA-256 of the manifest's text, in hex. */
  readonly hash: string;
  readonly listen: Address;
  readonly admin: Address | undefined;
  readonly upstreams: readonly Upstream[];
  /** In the manifest's order. */
  readonly routes: readonly Route[];
  readonly router: Router;
  /** Present as soon as one route is protected or has a login gate. */
  readonly auth: Auth | undefined;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

export interface Upstream {
  readonly id: string;
  /** Equal for equal definitions: what is kept for an upstream, connections above all, is kept by this. */
  readonly key: string;
  readonly url: URL;
  /** Whose certificate is asked for (SNI, RFC 6066 section 3); `undefined` for plain HTTP and for an address. */
  readonly serverName: string | undefined;
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
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
  readonly upstream: Upstream;
  /** A WebSocket handshake may become a tunnel here. */
  readonly websocket: boolean;
  readonly login: LoginRule | undefined;
  /** `report`: what does not fit is let through, and told in the log only. */
  readonly validation: 'enforce' | 'report';
  /** What the path's parameters, the query and the headers must be; `undefined`: anything. */
  readonly parameters: Parameters | undefined;
  readonly body: BodyRule | undefined;
}

/**
 * Judges what comes before the body. Pointers begin with `/params`, `/query` or `/headers`.
 *
 * @param path that the path guard has passed, still encoded
 * @param query with its question mark, or empty
 * @param headers names and values in turn, as they came
 */
export type Parameters = (path: string, query: string, headers: readonly string[]) => readonly Fault[];

export interface Router {
  /** The route of a path that the path guard has passed, still encoded; `undefined` when there is none. */
  readonly match: (method: string, path: string) => Route | undefined;
  /** The methods that some route has for a path, sorted; empty when no route knows the path. */
  readonly allowed: (path: string) => readonly string[];
}

export interface BodyRule {
  /** A longer body is refused as soon as that is known. */
  readonly limitBytes: number;
  /** What the body may be; `undefined`: anything. */
  readonly types: MediaTypes | undefined;
  /**
   * Present when the body must be JSON: reads and judges the whole of it, a long one in another thread. The judge
   * takes the buffer over, whose memory nothing else may use.
   */
  readonly judge: ((body: Buffer) => Judged | Promise<Judged>) | undefined;
  /** What looks at a streamed body of this Content-Type on its way; `undefined`: nothing does. */
  readonly inspect: ((contentType: string) => Inspector | undefined) | undefined;
}

/** A body that was judged. */
export interface Judged {
  /** None when it fits. */
  readonly faults: readonly Fault[];
  /** The bytes that were judged, to be used from now on; `undefined`: they are lost, and there are faults. */
  readonly body: Buffer | undefined;
}

/** Looks at one body, piece by piece, and keeps hardly anything of it. */
export interface Inspector {
  /** The next piece, of any length. With a fault nothing of it may go on, and nothing that follows. */
  take(piece: Buffer): Fault | undefined;
  /** There are no more pieces. */
  end(): Fault | undefined;
}

/** Some media types (RFC 9110 section 8.3.1). */
export interface MediaTypes {
  /** Whether a Content-Type is one of them. */
  readonly takes: (contentType: string) => boolean;
  /** What an `Accept` says of them. */
  readonly accept: string;
  /** What a client is told that sent another. */
  readonly detail: string;
}

/** What is wrong with a request, without a value of it. */
export interface Fault {
  /** JSON Pointer (RFC 6901) into the body, or to a parameter: `/query/page`. */
  readonly pointer: string;
  readonly message: string;
  /** What the schema itself says of the place: its `errorMessage`, else its `description`. */
  readonly description?: string;
}

export interface LoginRule {
  /**
   * Finds the token in an answer's decoded body: `undefined` as the token when there is none, in an MFA
   * challenge say; `undefined` altogether when the body is not JSON with one reading.
   */
  readonly find: (body: Buffer) => { readonly token: unknown } | undefined;
  /** How long the answer may be, as sent and decoded. */
  readonly limitBytes: number;
}

export interface Auth {
  readonly verifier: Verifier;
  readonly role: RoleRule;
}

export interface Verifier {
  /** Equal for equal definitions: a verifier outlives a reload that did not change it. */
  readonly key: string;
  /** The principal of a token that was verified before and is still good, at once. */
  readonly cached: (token: string) => Principal | undefined;
  readonly verify: (token: string) => Promise<Verdict>;
}

export type Verdict = { readonly principal: Principal } | { readonly fault: TokenFault };

/** Why a token was not accepted; for the log only. `keys_unavailable` is no fault of the token's. */
export type TokenFault =
  | 'token_malformed'
  | 'token_expired'
  | 'token_not_yet_valid'
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
  /** Milliseconds since the epoch: from then on the token is verified anew. */
  readonly expiresAt: number;
}

export interface RoleRule {
  readonly allows: (principal: Principal) => boolean;
  /** What the 403 says, word for word. */
  readonly message: string;
}
