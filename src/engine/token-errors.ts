/** Why a token was rejected; for the log only. With `keys_unavailable` the token may be valid. */
export const TOKEN_ERRORS = [
  'token_malformed',
  'token_inactive',
  'token_expired',
  'token_not_yet_valid',
  'type_wrong',
  'issuer_wrong',
  'audience_wrong',
  'algorithm_not_allowed',
  'key_unknown',
  'signature_wrong',
  'claims_wrong',
  'keys_unavailable',
] as const;

export type TokenErrorCode = (typeof TOKEN_ERRORS)[number];
