import type { KeyWithId, VerificationKeySet } from './key-set.ts';
import type { VerifierStatus } from './verifier.ts';

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
