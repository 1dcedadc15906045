import type { FailureSource } from '../circuit-breaker/circuit-breaker.ts';
import { Refusal, type RefusalCode } from '../response/refusal.ts';

/** Ends an exchange without a response, because the client has disconnected. */
export class ClientDisconnected extends Error {}

interface Failure {
  readonly refusal: RefusalCode;
  /** The source of the failure after a request was sent, and of each lack of resources. */
  readonly source?: FailureSource;
}

/** By `codeOf` an error. A test checks all codes. */
export const FAILURES: Readonly<Record<string, Failure>> = {
  connect_timeout: { refusal: 'upstream_timeout', source: 'endpoint' },
  response_timeout: { refusal: 'upstream_timeout', source: 'request' },
  // A client can request a response that pauses, such as an event stream.
  idle_timeout: { refusal: 'upstream_timeout', source: 'client' },
  connection_closed: { refusal: 'upstream_error', source: 'request' },
  response_malformed: { refusal: 'upstream_error', source: 'request' },
  // Upstreams repeat the query of the client in `Location` and `Link`.
  response_head_too_large: { refusal: 'upstream_error', source: 'client' },
  response_unexpected: { refusal: 'upstream_error', source: 'request' },
  upgrade_unexpected: { refusal: 'upstream_error', source: 'request' },
  informational_too_many: { refusal: 'upstream_error', source: 'request' },
  request_malformed: { refusal: 'upstream_error', source: 'client' },
  ECONNRESET: { refusal: 'upstream_error', source: 'request' },
  EPIPE: { refusal: 'upstream_error', source: 'request' },
  ETIMEDOUT: { refusal: 'upstream_timeout', source: 'endpoint' },
  EHOSTUNREACH: { refusal: 'upstream_unreachable', source: 'endpoint' },
  ENETUNREACH: { refusal: 'upstream_unreachable', source: 'endpoint' },
  EMFILE: { refusal: 'upstream_error', source: 'gateway' },
  ENFILE: { refusal: 'upstream_error', source: 'gateway' },
  ENOBUFS: { refusal: 'upstream_error', source: 'gateway' },
  ENOMEM: { refusal: 'upstream_error', source: 'gateway' },
  exchange_too_long: { refusal: 'upstream_timeout', source: 'request' },
  login_response_too_long: { refusal: 'login_response_refused', source: 'client' },
  body_too_large: { refusal: 'body_too_large', source: 'client' },
  body_invalid: { refusal: 'body_invalid', source: 'client' },
  // Only before a request is sent. The first five are those of unix sockets: they do not exist, the gateway may not use them, or
  // their queue is full.
  ENOENT: { refusal: 'upstream_unreachable' },
  EACCES: { refusal: 'upstream_unreachable' },
  ELOOP: { refusal: 'upstream_unreachable' },
  ENOTDIR: { refusal: 'upstream_unreachable' },
  EAGAIN: { refusal: 'upstream_unreachable' },
  ECONNREFUSED: { refusal: 'upstream_unreachable' },
  ENOTFOUND: { refusal: 'upstream_unreachable' },
  EAI_AGAIN: { refusal: 'upstream_unreachable' },
  EADDRNOTAVAIL: { refusal: 'upstream_unreachable' },
  ETIMEOUT: { refusal: 'upstream_timeout' },
};

function failureOf(code: string): Failure {
  return (Object.hasOwn(FAILURES, code) && FAILURES[code]) || { refusal: 'upstream_error' };
}

export function failureSourceOf(code: string): FailureSource | undefined {
  return failureOf(code).source;
}

export function isTimeout(error: unknown): boolean {
  return failureOf(codeOf(error)).refusal === 'upstream_timeout';
}

/** Returns the code of an `Http1Error` or of the system, or the reason of the refusal with which the gateway ends an exchange. */
export function codeOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException;
  return error instanceof Refusal ? error.reason : (code ?? name);
}

/** Returns the refusal for a failed exchange with an upstream. */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const code = codeOf(error);
  return new Refusal(failureOf(code).refusal, { reason: `upstream_${code.toLowerCase()}` });
}
