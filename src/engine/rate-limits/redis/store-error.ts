import { STORE_FAILURES, type StoreFailureReason } from '../rate-limit.ts';

export class StoreError extends Error {
  readonly reason: StoreFailureReason;

  constructor(reason: StoreFailureReason) {
    super(STORE_FAILURES[reason]);
    this.reason = reason;
  }
}

/** Errors of Redis by their first word. */
const SERVER_ERRORS: Readonly<Record<string, StoreFailureReason>> = {
  NOAUTH: 'credentials',
  WRONGPASS: 'credentials',
  NOPERM: 'credentials',
  READONLY: 'readonly',
  MASTERDOWN: 'readonly',
  OOM: 'memory',
  MISCONF: 'memory',
  LOADING: 'loading',
  CLUSTERDOWN: 'cluster',
};

/** Codes of the network before a connection is open. */
const UNREACHABLE = /^(?:ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ETIMEOUT|ETIMEDOUT|EMFILE)$/;

/** Returns the error of a store for an error of the library, of the network or of the server. */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { code, message, errors } = error as { code?: unknown; message?: unknown; errors?: readonly unknown[] };
  // One error for each address of a name.
  if (code === undefined && errors?.[0] !== undefined) return storeErrorOf(errors[0]);
  if (typeof code === 'string')
    return new StoreError(UNREACHABLE.test(code) ? 'unreachable' : isTlsCode(code) ? 'tls' : 'closed');
  const [word = ''] = String(message).split(' ', 1);
  // Errors of the library without a code, such as "Socket closed unexpectedly", begin with a word in lower case.
  return new StoreError(SERVER_ERRORS[word] ?? (/^[A-Z]{2}|RESP/.test(String(message)) ? 'response' : 'closed'));
}

/** Codes of OpenSSL, such as `DEPTH_ZERO_SELF_SIGNED_CERT`; those of the system begin with `E` and have no underscore. */
function isTlsCode(code: string): boolean {
  return code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || (code.includes('_') && !code.startsWith('ERR_'));
}
