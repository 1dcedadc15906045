import type { TokenCache } from '../manifest/manifest.generated.ts';
import type { TokenClaims } from './claims.ts';
import type { VerificationContext } from './identity-client.ts';
import type { KeySource } from './key-source.ts';
import type { CachedRejection, CachedToken, NetworkVerifier } from './verifier.ts';

/** Verifies tokens that are not cached, by one method: JWT, introspection or userinfo. */
export interface TokenVerifier {
  readonly verify: (
    token: string,
    context: VerificationContext,
  ) => Promise<VerifiedToken | CachedToken | CachedRejection>;
  /** Returns the current keys. Tokens that were verified with other keys are no longer cached. */
  readonly keySet?: () => unknown;
  /** The source of its keys; absent for methods without keys. */
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
