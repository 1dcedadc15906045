import type { Refusal, RefusalCode } from '../engine/gateway/response/refusal.ts';
import type { Outcome } from './outcome.ts';

/** Refusals that depend on the state of the gateway or of an identity service, and not on the plan. */
const UNDECIDED: ReadonlySet<RefusalCode> = new Set([
  'gateway_busy',
  'internal_error',
  'keys_unavailable',
  'rate_limit_unavailable',
  'request_timeout',
]);

/** Refusals of an exchange that the plan has forwarded. */
export const UPSTREAM_REFUSALS: ReadonlySet<RefusalCode> = new Set([
  'upstream_busy',
  'upstream_error',
  'upstream_timeout',
  'upstream_unavailable',
  'upstream_unreachable',
]);

/** Returns the outcome of a request that a plan refuses. */
export function refusedOutcome(refusal: Refusal, route: string | undefined): Outcome {
  const { code, status, detail, reason, limit } = refusal;
  if (UNDECIDED.has(code)) return { kind: 'unknown', route, reason: 'no-decision' };
  if (reason === 'client_closed') return { kind: 'unknown', route, reason: 'client-left' };
  return { kind: 'refused', route, code, status, detail, reason, limit };
}
