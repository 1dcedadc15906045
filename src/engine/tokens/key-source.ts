import type { VerificationKeySet } from './key-set.ts';
import type { KeyLookup, KeyRequest, KeyResponse, VerifierStatus } from './verifier.ts';

/** The keys that tokens are verified with. */
export interface KeySource {
  /** The current keys. Changed keys are another object. */
  readonly cachedKeys: VerificationKeySet | undefined;
  readonly state: Exclude<VerifierStatus['keys'], 'none'>;
  readonly fetchSuccesses: number;
  readonly fetchFailures: number;
  /** Why the last fetch failed, for the log; `undefined` after a success. */
  readonly lastError: string | undefined;
  /** Returns the current keys, and fetches them first if there are none or they are too old; `undefined` if that fails. */
  current(): Promise<VerificationKeySet | undefined>;
  /**
   * Fetches newer keys than `keys`, which do not verify a token. Keys that were requested before the token arrived do not
   * prove that the token is invalid.
   */
  refresh(keys: VerificationKeySet, lookup: KeyLookup): Promise<VerificationKeySet | 'none' | 'unavailable'>;
  /** Keeps the version of the keys in a cell that all threads share. */
  share?(version: Int32Array): void;
  /** Returns the keys to another thread. */
  publish?(request: KeyRequest): Promise<KeyResponse>;
}

export const KEYS_UNAVAILABLE: KeyResponse = { outcome: 'unavailable', cause: undefined };

export function staticKeySource(cachedKeys: VerificationKeySet): KeySource {
  return {
    cachedKeys,
    state: 'known',
    fetchSuccesses: 0,
    fetchFailures: 0,
    lastError: undefined,
    current: async () => cachedKeys,
    refresh: async () => 'none',
  };
}
