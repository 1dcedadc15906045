import { hash } from 'node:crypto';
import type { TokenErrorCode } from '../gateway/response/refusal.ts';
import type { WorkerContext } from '../shared-memory/worker-context.ts';
import type { KeyWithId } from './key-set.ts';

export interface RejectedToken {
  readonly code: TokenErrorCode;
  /** Why the issuer sent no usable response; for the log only. */
  readonly cause?: string;
  /** Until when it is cached, by `sharedNow()`; absent if it is not cached. */
  readonly until?: number;
}

export type VerificationResult = { readonly principal: Principal } | RejectedToken;

/** A caller with a verified token. Only a verifier creates one. */
export interface Principal {
  readonly claims: Readonly<Record<string, unknown>>;
  /** A pseudonym for the log: 16 hex digits of the SHA-256 of `sub`, and of the issuer if there are several; `undefined` without a `sub`. */
  readonly subject: string | undefined;
  /** The method that verified the token; `undefined` if the manifest has only one. */
  readonly issuer?: string | undefined;
  /** When the token must be verified again, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
  /** The key of the rule that allowed the caller last. A rule depends only on the claims and the issuer, so it allows the caller again. */
  allowedBy?: RoleRule['key'];
}

/** Returns the pseudonym of a caller. Subjects of one name at two issuers have two of them. */
export function subjectOf({ sub }: Principal['claims'], issuer: Principal['issuer']): string | undefined {
  if (typeof sub !== 'string') return undefined;
  return hash('sha256', issuer === undefined ? sub : `${issuer} ${sub}`).slice(0, 16);
}

/** An accepted token in a cache. The caches of all threads keep it until the same time. */
export interface CachedToken {
  readonly principal: Principal;
  /** The keys that verified it; `undefined` for methods without keys. */
  readonly keySet: unknown;
  /** When its last verification began, by `sharedNow()`. */
  readonly askedAt: number;
  /** Until when it is accepted while the identity service is unavailable, in milliseconds since the Unix epoch. */
  readonly staleUntil: number;
  /** The length of the text that the claims were read from. */
  readonly bytes: number;
}

/** A client that waits for a token to be verified. */
export interface VerificationClient {
  /** Clients with the same key share the limits of one client; `undefined` for the gateway itself. */
  readonly key: string | undefined;
  /** Aborted when no client waits any longer. */
  readonly signal: AbortSignal;
}

/** The state of a verifier. Where workers have a verifier each, counts are sums over all of them. */
export interface VerifierStatus {
  /**
   * `none`: tokens are verified without keys; `unknown`: no keys were fetched yet; `stale`: the keys are too old, and fetching
   * newer ones failed.
   */
  readonly keys: 'none' | 'known' | 'unknown' | 'stale';
  /** Why the last fetch of keys failed; `null` after a success. */
  readonly cause: string | null;
  /**
   * Cached tokens: accepted ones and rejected ones. A JWT counts once for each worker that has verified it; tokens that the identity
   * service verifies count once.
   */
  readonly entries: number;
  readonly refused: number;
  /** Tokens that are being verified. */
  readonly verifying: number;
  /** Cache hits and misses. */
  readonly hits: number;
  readonly misses: number;
  /** The results of the tokens that were not cached. */
  readonly results: ReadonlyMap<TokenErrorCode | 'valid', number>;
  /** Successful and failed fetches of keys. */
  readonly fetches: number;
  readonly failedFetches: number;
}

export interface KeyLookup {
  /** The `kid` of the token. */
  readonly keyId: string | undefined;
  /** When the token arrived, by `sharedNow()`. */
  readonly receivedAtMs: number;
  /** True if the lookup may wait until the next fetch is due: a key id that was never seen may belong to a new key. */
  readonly isUnknownKeyId: boolean;
  /** The key of the client that sent the token; `undefined` for the gateway itself. */
  readonly clientKey: string | undefined;
}

/** A request for the keys of another thread. */
export interface KeyRequest {
  /** The version of the keys that the sender has; 0 if it has none. */
  readonly version: number;
  /** The token that these keys do not verify. */
  readonly lookup?: KeyLookup | undefined;
}

export type KeyResponse =
  | {
      readonly outcome: 'keys';
      readonly version: number;
      /** Until when they are used without another request, by `sharedNow()`. */
      readonly freshUntilMs: number;
      /** `undefined` if the sender has them. */
      readonly keys: readonly KeyWithId[] | undefined;
    }
  | { readonly outcome: 'none' }
  | { readonly outcome: 'unavailable'; readonly cause: string | undefined };

/**
 * The part of a verifier that sends requests to an identity service. Only the main thread sends them, so that connections, circuit
 * breakers, limits for each client and the cache of rejected tokens exist once. The verifiers of other threads use it through messages.
 */
export interface NetworkVerifier {
  /** Returns the keys that verify tokens. Rejects if the main thread has no such verifier. */
  readonly keys: (request: KeyRequest) => Promise<KeyResponse>;
  /** Returns the result for a token, from the cache if possible. Rejects as `keys` does, and when the client disconnects. */
  readonly verify: (token: string, client: VerificationClient) => Promise<CachedToken | RejectedToken>;
}

/** The names of the methods whose tokens are accepted; `undefined` if the manifest has only one method. */
export type Issuers = ReadonlySet<string | undefined> | undefined;

export interface Verifier {
  /** A hash of the definition. */
  readonly key: string;
  /** The verifiers of the methods of a manifest, each with its own keys, cache and counts. */
  readonly methods: readonly MethodVerifier[];
  /** Returns the principal of a token that is cached and still valid. */
  readonly cached: (token: string, issuers?: Issuers) => Principal | undefined;
  /**
   * Verifies a token that is not cached. Clients with the same token share one verification.
   *
   * @param client waits for the result; `undefined` for the gateway itself, to which the limits of a client do not apply
   */
  readonly verify: (token: string, client?: VerificationClient, issuers?: Issuers) => Promise<VerificationResult>;
}

/** The verifier of one method. A reload reuses one with an equal key. */
export interface MethodVerifier extends Verifier {
  /** `undefined` if the manifest has only one method. */
  readonly name: string | undefined;
  readonly status: VerifierStatus;
  /** Returns the principal of a cached token by its hash. It counts no miss: another method may have the token. */
  readonly cachedById: (id: string) => Principal | undefined;
  /** The shared memory of its counts. */
  readonly buffer: { readonly name: string; readonly bytes: number };
  /** Serves the verifiers of other threads with the same key. */
  readonly network: NetworkVerifier;
  /** Counts in the memory of all workers. Call it before the plan is active, and again for each plan that reuses the verifier. */
  readonly share: (worker: Pick<WorkerContext, 'memory' | 'index'>) => void;
  /** Fetches the keys if none were fetched yet. Never rejects. */
  readonly prepare: () => Promise<void>;
}

/** How a route authenticates and authorizes callers. */
export interface Auth {
  readonly verifier: Verifier;
  /** The methods whose tokens a route accepts. */
  readonly issuers: Issuers;
  /** Equal for routes that accept the same tokens. */
  readonly tokensKey: string;
  readonly role: RoleRule;
  /** The start of every challenge: the scheme and the realm (RFC 6750 section 3). */
  readonly challengePrefix: string;
}

/** A role, and the issuer of the caller if there are several. */
export type Permission = readonly [issuer: Principal['issuer'], role: string];

export interface RoleRule {
  /** Equal for rules that allow the same callers. */
  readonly key: string;
  readonly allows: (principal: Principal) => boolean;
  /** The rules by issuer if there are several. */
  readonly rules?: ReadonlyMap<Principal['issuer'], RoleRule>;
  /** Returns those of `redactedRoles` that the caller has, in the order of the manifest; `undefined` if a valid token is enough. */
  readonly heldBy: (principal: Principal) => readonly string[] | undefined;
  /** True if a valid token is enough. */
  readonly isAny: boolean;
  /** The caller needs one of these roles; `any` alone if a valid token is enough. */
  readonly required: readonly string[];
  /** `required` as it may be printed. */
  readonly redactedRoles: readonly string[];
  /** `required`, with the issuer of each role if there are several. */
  readonly permissions: readonly Permission[];
  /** Returns true if a caller with one of `permissions` of another rule may pass. */
  readonly permits: (permission: Permission) => boolean;
  /** Returns the text of the 403; `undefined` if it came from the environment, which clients may not see. */
  readonly messageFor: (issuer: Principal['issuer']) => string | undefined;
}

/** Returns the rule for the callers of one issuer; `undefined` if they have none. @param issuer `undefined` for the rule of all callers */
export function ruleOf(role: RoleRule, issuer: Principal['issuer']): RoleRule | undefined {
  return issuer === undefined || role.rules === undefined ? role : role.rules.get(issuer);
}
