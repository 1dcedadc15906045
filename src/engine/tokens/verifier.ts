import type { WorkerContext } from '../shared-memory/worker-context.ts';
import type { NetworkVerifier } from './network-verifier.ts';
import type { Principal, TokenErrorCode, VerificationResult } from './verification-result.ts';

/** A client that waits for a token to be verified. */
export interface VerificationClient {
  /** Clients with the same key share the limits of one client. */
  readonly key: string;
  /** Aborted when the client disconnects. */
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

export interface Verifier {
  /** A hash of the definition: a reload reuses a verifier with an equal key. */
  readonly key: string;
  /** Returns the principal of a token that is cached and still valid. */
  readonly cached: (token: string) => Principal | undefined;
  readonly status: VerifierStatus;
  /** The shared memory of its counts. */
  readonly buffer?: { readonly name: string; readonly bytes: number };
  /** Serves the verifiers of other threads with the same key. */
  readonly network?: NetworkVerifier;
  /** Counts in the memory of all workers. Call it before the plan is active, and again for each plan that reuses the verifier. */
  readonly share: (worker: Pick<WorkerContext, 'memory' | 'index'>) => void;
  /** Fetches the keys if none were fetched yet. Never rejects. */
  readonly prepare: () => Promise<void>;
  /**
   * Verifies a token that is not cached. Clients with the same token share one verification.
   *
   * @param client waits for the result; `undefined` for the gateway itself, to which the limits of a client do not apply
   */
  readonly verify: (token: string, client?: VerificationClient) => Promise<VerificationResult>;
}
