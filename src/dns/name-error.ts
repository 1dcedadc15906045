/** Why a name has no address to connect to; the codes are those of `getaddrinfo` and of c-ares. */
export const NAME_CODES = {
  ENOTFOUND: 'the name has no address',
  EAI_AGAIN: 'the name servers refused, failed or could not be reached',
  ETIMEOUT: 'no name server responded in time',
} as const;

export type NameCode = keyof typeof NAME_CODES;

export class NameError extends Error {
  readonly code: NameCode;

  constructor(code: NameCode) {
    super(NAME_CODES[code]);
    this.code = code;
  }
}
