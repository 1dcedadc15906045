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
