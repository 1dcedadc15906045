import { Refusal } from '../response/refusal.ts';

/** Ends an exchange with a refusal. */
export class UpstreamError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/** Ends an exchange without a response, because the client has disconnected. */
export class ClientDisconnected extends Error {}

const TIMEOUTS = new Set(['response_timeout', 'idle_timeout', 'connect_timeout', 'ETIMEDOUT', 'ETIMEOUT']);
// The first five are those of unix sockets: they do not exist, the gateway may not use them, or their queue is full.
const UNREACHABLE = new Set([
  'ENOENT',
  'EACCES',
  'ELOOP',
  'ENOTDIR',
  'EAGAIN',
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

export function isTimeout(error: Error & { code?: string }): boolean {
  return TIMEOUTS.has(error.code ?? '');
}

/** Returns the refusal for a failed exchange with an upstream, by the error code of the connection or of the system. */
export function toRefusal(error: Error & { code?: string }): Refusal {
  if (error instanceof UpstreamError) return error.refusal;
  const code = error.code ?? error.name;
  const reason = `upstream_${code.toLowerCase()}`;
  if (TIMEOUTS.has(code)) return new Refusal('upstream_timeout', { reason });
  if (UNREACHABLE.has(code)) return new Refusal('upstream_unreachable', { reason });
  return new Refusal('upstream_error', { reason });
}
