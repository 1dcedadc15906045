import { type Answer, Fault } from '../answer.ts';
import type { Call, User } from '../call.ts';
import { page } from '../page.ts';
import type { Route } from '../server.ts';
import type { Store } from '../store.ts';

/** What happened in the company, newest first. */
export function auditRoutes(store: Store): readonly Route[] {
  return [['GET', '/api/audit/events', 'protected', (call, user) => list(store, call, user)]];
}

function list(store: Store, call: Call, user: User): Answer {
  const from = momentOf(call, 'from', 'T00:00:00.000Z') ?? '';
  const to = momentOf(call, 'to', 'T23:59:59.999Z') ?? '9999';
  const select = `SELECT id, actor, action, target, at FROM audit_events
    WHERE company_id = ? AND at >= ? AND at <= ? ORDER BY at DESC, rowid DESC`;
  return page(store, call, select, [user.companyId, from, to]);
}

/** A date or a date and time of ISO 8601, both ends included: a date alone means its first or last moment, in UTC. */
function momentOf(call: Call, name: string, timeOfDate: string): string | undefined {
  const value = call.query.get(name);
  if (value === null) return undefined;
  const [, date = '', time = ''] =
    /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/.exec(value) ?? [];
  const moment = new Date(`${date}${time || timeOfDate}`);
  // Date reads 2026-02-31 as the third of March
  const midnight = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(moment.getTime()) || midnight.toISOString().slice(0, 10) !== date) {
    throw new Fault(400, `"${name}" must be an ISO date such as 2026-01-31 or 2026-01-31T12:00:00Z`);
  }
  return moment.toISOString();
}
