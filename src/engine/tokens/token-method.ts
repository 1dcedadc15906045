import type { TokenCache } from '../manifest/manifest.generated.ts';
import type { TokenClaims } from './claims.ts';
import type { VerificationKeySet } from './key-set.ts';
import type {
  CachedToken,
  KeyLookup,
  KeyRequest,
  KeyResponse,
  NetworkVerifier,
  RejectedToken,
  VerificationClient,
  VerifierStatus,
} from './verifier.ts';

/** Verifies tokens that are not cached, by one method: JWT, introspection or userinfo. */
export interface TokenVerifier {
  readonly verify: (token: string, client: VerificationClient) => Promise<VerifiedToken | CachedToken | RejectedToken>;
  /** The source of its keys; absent for methods without keys. Tokens that were verified with other keys are no longer cached. */
  readonly keySource?: KeySource;
  /** True if each verification sends a request. Rejected tokens are then cached too. */
  readonly isRemote?: boolean;
  /** True if the main thread verifies the tokens, and counts them. */
  readonly isDelegated?: boolean;
}

/** A verification method of a manifest. */
export interface TokenMethod extends Pick<TokenCacheSettings, 'staleIfErrorMs'> {
  readonly verifier: TokenVerifier;
  /** Returns a verifier that leaves requests to the main thread; absent for a method without requests. */
  readonly delegateTo?: (network: NetworkVerifier) => TokenVerifier;
  /** Values that it depends on besides its own definition: the keys of a file, the address of an upstream. */
  readonly dependencies: unknown;
}

export interface VerifiedToken {
  readonly claims: TokenClaims;
  /** The length of the text that the claims were read from. */
  readonly bytes: number;
  readonly keySet?: unknown;
}

export interface TokenCacheSettings {
  readonly cache: TokenCache;
  readonly clockToleranceMs: number;
  /** How long a cached token is accepted beyond its cache time while the identity service is unavailable. */
  readonly staleIfErrorMs: number;
}

/** The keys that tokens are verified with. */
export interface KeySource {
  /** The current keys. Changed keys are another object. */
  readonly cachedKeys: VerificationKeySet | undefined;
  /** Absent for keys that this thread does not fetch. */
  readonly status?: Pick<VerifierStatus, 'keys' | 'fetches' | 'failedFetches'>;
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
    lastError: undefined,
    current: async () => cachedKeys,
    refresh: async () => 'none',
  };
}
