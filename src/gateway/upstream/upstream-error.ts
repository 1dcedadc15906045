import { Refusal } from '../response/refusal.ts';

/** Breaks an exchange off; what the client is told of it comes along. */
export class UpstreamError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/** Breaks an exchange off whose client left: there is nobody to tell. */
export class ClientDisconnected extends Error {}

const TIMEOUTS = new Set(['response_timeout', 'idle_timeout', 'connect_timeout', 'ETIMEDOUT', 'ETIMEOUT']);
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']);

export function isTimeout(error: Error & { code?: string }): boolean {
  return TIMEOUTS.has(error.code ?? '');
}

/** What the client is told when an exchange with an upstream failed, by the codes of the connection and of the system. */
export function toRefusal(error: Error & { code?: string }): Refusal {
  if (error instanceof UpstreamError) return error.refusal;
  const code = error.code ?? error.name;
  const reason = `upstream_${code.toLowerCase()}`;
  if (TIMEOUTS.has(code)) return new Refusal('upstream_timeout', { reason });
  if (UNREACHABLE.has(code)) return new Refusal('upstream_unreachable', { reason });
  return new Refusal('upstream_error', { reason });
}
