/** Why a name has no address to connect to; the codes are those of `getaddrinfo` and of c-ares. */
export const DNS_ERROR_CODES = {
  ENOTFOUND: 'the name has no address',
  EAI_AGAIN: 'the name servers refused, failed or could not be reached',
  ETIMEOUT: 'no name server responded in time',
} as const;

export type DnsErrorCode = keyof typeof DNS_ERROR_CODES;

export class DnsError extends Error {
  readonly code: DnsErrorCode;

  constructor(code: DnsErrorCode) {
    super(DNS_ERROR_CODES[code]);
    this.code = code;
  }
}
