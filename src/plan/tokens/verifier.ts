import type { Principal, TokenErrorCode, VerificationResult } from './verification-result.ts';

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
  /** Tokens that are cached as valid, and as refused. */
  readonly entries: number;
  readonly refused: number;
  /** Tokens that are being verified. */
  readonly verifying: number;
  /** Lookups that found a valid token in the cache, and that did not. */
  readonly hits: number;
  readonly misses: number;
  /** Verifications of tokens that were not cached, by result. */
  readonly results: ReadonlyMap<TokenErrorCode | 'valid', number>;
  /** Fetches of the keys that succeeded, and that failed. */
  readonly fetches: number;
  readonly failedFetches: number;
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
