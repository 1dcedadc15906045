/** Why a token was rejected; for the log only. With `keys_unavailable` the token may be valid. */
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

export interface RejectedToken {
  readonly code: TokenErrorCode;
  /** Why the issuer sent no usable response; for the log only. */
  readonly cause?: string;
}

export type VerificationResult = { readonly principal: Principal } | RejectedToken;

/** A caller with a verified token. Only a verifier creates one. */
export interface Principal {
  readonly claims: Readonly<Record<string, unknown>>;
  /** A pseudonym for the log: 16 hex digits of the SHA-256 of `sub`; `undefined` without a `sub`. */
  readonly subject: string | undefined;
  /** When the token must be verified again, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/** An accepted token in a cache. The caches of all threads keep it until the same time. */
export interface CachedToken {
  readonly principal: Principal;
  /** The keys that verified it; `undefined` for methods without keys. */
  readonly keySet: unknown;
  /** Until when it is accepted while the identity service is unavailable, in milliseconds since the Unix epoch. */
  readonly staleUntil: number;
  /** The length of the text that the claims were read from. */
  readonly bytes: number;
}

/** A rejected token. */
export interface CachedRejection extends RejectedToken {
  /** Until when it is cached, by `sharedNow()`; absent if it is not cached. */
  readonly until?: number;
}
