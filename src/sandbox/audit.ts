import { randomUUID } from 'node:crypto';
import { paginate } from './paginate.ts';
import type { AuthenticatedRequest, SandboxRoute, SandboxUser } from './request.ts';
import { SandboxError, type SandboxResponse } from './response.ts';
import { now, type Store } from './store.ts';

/** Leaves an audit event. Every write calls this; `action` is `thing.deed`, `target` the id of the thing. */
export function recordAuditEvent(store: Store, actor: Actor, action: string, target: string): void {
  const { companyId, email } = actor;
  store.insert('event', { id: randomUUID(), company_id: companyId, actor: email, action, target, at: now() });
}

/** Whose act it was: a caller, or an account that has no token yet. */
type Actor = Pick<SandboxUser, 'companyId' | 'email'>;

/** What happened in the company, newest first. */
export const auditRoutes: readonly SandboxRoute[] = [['GET /api/audit/events', 'protected', listAuditEvents]];

function listAuditEvents(call: AuthenticatedRequest): SandboxResponse {
  const from = instantOf(call, 'from', 'T00:00:00.000Z') ?? '';
  const to = instantOf(call, 'to', 'T23:59:59.999Z') ?? '9999';
  const select = `SELECT id, actor, action, target, at FROM event
    WHERE company_id = ? AND at >= ? AND at <= ? ORDER BY at DESC, rowid DESC`;
  return paginate(call, select, call.user.companyId, from, to);
}

/** A date or a date and time of ISO 8601, both ends included: a date alone means its first or last moment, in UTC. */
function instantOf(call: AuthenticatedRequest, name: string, timeOfDate: string): string | undefined {
  const value = call.query.get(name);
  if (value === null) return undefined;
  try {
    const moment = Temporal.Instant.from(value.includes('T') ? value : value + timeOfDate);
    return moment.toString({ fractionalSecondDigits: 3 });
  } catch {
    throw new SandboxError(400, `"${name}" must be an ISO date such as 2026-01-31 or 2026-01-31T12:00:00Z`);
  }
}
