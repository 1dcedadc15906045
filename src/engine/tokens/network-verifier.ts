import type { KeyRequest, KeyResponse } from './key-source.ts';
import type { CachedRejection, CachedToken } from './verification-result.ts';
import type { VerificationClient } from './verifier.ts';

/**
 * The part of a verifier that sends requests to an identity service. Only the main thread sends them, so that connections, circuit
 * breakers, limits for each client and the cache of rejected tokens exist once. The verifiers of other threads use it through messages.
 */
export interface NetworkVerifier {
  /** Returns the keys that verify tokens. Rejects if the main thread has no such verifier. */
  readonly keys: (request: KeyRequest) => Promise<KeyResponse>;
  /** Returns the result for a token, from the cache if possible. Rejects as `keys` does, and when the client disconnects. */
  readonly verify: (token: string, client: VerificationClient | undefined) => Promise<CachedToken | CachedRejection>;
}

/** Requests of one thread in progress. One client has half of them at most. */
export const MAX_NETWORK_REQUESTS = 2_000;
