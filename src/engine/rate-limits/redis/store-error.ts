/** The reasons why a store made no decision. They contain no text of the store, because a log must not repeat it. */
export const STORE_FAILURES = {
  timeout: 'the store did not respond in time',
  busy: 'too many decisions wait for the store',
  connecting: 'the first connection is not open yet',
  closed: 'the connection closed',
  unreachable: 'no connection to the server',
  tls: 'the TLS handshake failed, or the certificate is not trusted',
  credentials: 'the server refused the user, the password or the command',
  readonly: 'the server is a replica, which refuses writes',
  memory: 'the server is out of memory',
  loading: 'the server loads its data',
  cluster: 'the cluster is incomplete, or the server is no part of it',
  primary: 'the Sentinel servers know no primary of this name',
  response: 'the server returned an error or an unexpected response',
} as const;

export type StoreFailureReason = keyof typeof STORE_FAILURES;

/** An error of a store. */
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

/** Errors of the network by their code. */
const CODES: Readonly<Record<string, StoreFailureReason>> = {
  ECONNREFUSED: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  ETIMEOUT: 'unreachable',
  ETIMEDOUT: 'unreachable',
  EMFILE: 'unreachable',
  ECONNRESET: 'closed',
  EPIPE: 'closed',
};

/** Returns the error of a store for an error of the library, of the network or of the server. */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const { code, message, errors } = error as { code?: unknown; message?: unknown; errors?: readonly unknown[] };
  // One error for each address of a name.
  if (code === undefined && errors?.[0] !== undefined) return storeErrorOf(errors[0]);
  if (typeof code === 'string') return new StoreError(CODES[code] ?? (isTlsCode(code) ? 'tls' : 'closed'));
  const [word = ''] = String(message).split(' ', 1);
  // Errors of the library without a code, such as "Socket closed unexpectedly", begin with a word in lower case.
  return new StoreError(SERVER_ERRORS[word] ?? (/^[A-Z]{2}|RESP/.test(String(message)) ? 'response' : 'closed'));
}

/** Codes of OpenSSL, such as `DEPTH_ZERO_SELF_SIGNED_CERT`; those of the system begin with `E` and have no underscore. */
function isTlsCode(code: string): boolean {
  return code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || (code.includes('_') && !code.startsWith('ERR_'));
}

/** `connecting`: there was no connection yet. `down`: requests do not wait for the store until it responds again. */
export type StoreState = 'connecting' | 'up' | 'down';

/** The state of a store of the active plan. */
export interface StoreStatus {
  readonly id: string;
  readonly state: StoreState;
  /** Milliseconds since the Unix epoch at which the state changed. */
  readonly since: number;
  /** The reason while the state is `down`. */
  readonly reason: StoreFailureReason | undefined;
  /** Decisions that failed or came too late, and attempts to connect that failed, by reason. */
  readonly failures: ReadonlyMap<StoreFailureReason, number>;
  /** Decisions that were made without the store, or refused because of it. */
  readonly decisionsWithout: number;
  /** Decisions that wait for the store. */
  readonly pending: number;
}
