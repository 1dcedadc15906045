import { randomUUID } from 'node:crypto';
import { paginate } from './paginate.ts';
import type { AuthenticatedRequest, SandboxRoute, SandboxUser } from './request.ts';
import { SandboxError, type SandboxResponse } from './response.ts';
import { now, type Store } from './store.ts';

/** Records an audit event. Every write calls this. `action` is `object.verb`, and `target` is the id of the object. */
export function recordAuditEvent(store: Store, actor: Actor, action: string, target: string): void {
  const { companyId, email } = actor;
  store.insert('event', { id: randomUUID(), company_id: companyId, actor: email, action, target, at: now() });
}

/** The user who acted: a caller, or an account without a token yet. */
type Actor = Pick<SandboxUser, 'companyId' | 'email'>;

/** Lists the audit events of a company, newest first. */
export const auditRoutes: readonly SandboxRoute[] = [
  [
    'GET /api/audit/events',
    'protected',
    listAuditEvents,
    { summary: 'List audit events, newest first', query: ['from', 'to', 'page', 'per_page'] },
  ],
];

function listAuditEvents(request: AuthenticatedRequest): SandboxResponse {
  const from = instantOf(request, 'from', 'T00:00:00.000Z') ?? '';
  const to = instantOf(request, 'to', 'T23:59:59.999Z') ?? '9999';
  const select = `SELECT id, actor, action, target, at FROM event
    WHERE company_id = ? AND at >= ? AND at <= ? ORDER BY at DESC, rowid DESC`;
  return paginate(request, select, request.user.companyId, from, to);
}

/** Returns an ISO 8601 query parameter as an instant. A date without a time gets `timeOfDate`, in UTC. */
function instantOf(request: AuthenticatedRequest, name: string, timeOfDate: string): string | undefined {
  const value = request.query.get(name);
  if (value === null) return undefined;
  try {
    const instant = Temporal.Instant.from(value.includes('T') ? value : value + timeOfDate);
    return instant.toString({ fractionalSecondDigits: 3 });
  } catch {
    throw new SandboxError(400, `"${name}" must be an ISO date such as 2026-01-31 or 2026-01-31T12:00:00Z`);
  }
}
