import { randomUUID } from 'node:crypto';
import { now, type Store } from './store.ts';

/** Whose act it was: a caller, or an account that has no token yet. */
export interface Actor {
  readonly companyId: string;
  readonly email: string;
}

/** Leaves an audit event. Every write calls this; `action` is `thing.deed`, `target` the id of the thing. */
export function audit(store: Store, actor: Actor, action: string, target: string): void {
  store.run(
    'INSERT INTO audit_events (id, company_id, actor, action, target, at) VALUES (?, ?, ?, ?, ?, ?)',
    randomUUID(),
    actor.companyId,
    actor.email,
    action,
    target,
    now(),
  );
}
