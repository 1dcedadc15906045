/** Why a token was not accepted; for the log only. `keys_unavailable` is no fault of the token's. */
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
  /** For the log only: why no answer could be had of the issuer. */
  readonly cause?: string;
}

export type VerificationResult = { readonly principal: Principal } | RejectedToken;

/** A caller whose token was verified. Only a verifier makes one. */
export interface Principal {
  readonly claims: Readonly<Record<string, unknown>>;
  /** For the log: who it is, without saying so. 16 hex digits of the SHA-256 of `sub`; `undefined` without one. */
  readonly subject: string | undefined;
  /** Milliseconds since the epoch: from then on the token is verified anew. */
  readonly expiresAt: number;
}
