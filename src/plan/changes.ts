import type { Plan } from './plan.ts';
import type { Route } from './route-definition.ts';
import type { Auth } from './tokens/auth.ts';

/** What differs between two plans, by the ids of routes and upstreams. */
export interface PlanChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Present in both, and written otherwise. */
  readonly changed: readonly string[];
  /** Of those added or changed: reached without a token now. */
  readonly nowPublic: readonly string[];
  /** Of those changed: reached with a token only now. */
  readonly nowProtected: readonly string[];
  /** Upstreams that are new or written otherwise. */
  readonly upstreams: readonly string[];
  readonly upstreamsRemoved: readonly string[];
  /** Keys of `server` that are written otherwise, or whose files hold something else. */
  readonly server: readonly string[];
  /** How tokens are verified, whom the role gate lets in, what other origins may do. */
  readonly rules: readonly ('tokens' | 'role' | 'cors')[];
  /** Keys of the manifest that take a restart: what they were at the start stays in force. */
  readonly needsRestart: readonly string[];
}

/** What a process began with, and cannot change while it runs. */
export type StartupSettings = Pick<Plan, 'listen' | 'admin'> & { readonly server: Pick<Plan['server'], 'tls'> };

export function comparePlans(old: Plan, next: Plan): PlanChanges {
  const before = new Map(old.routes.map((route) => [route.id, route]));
  const after = new Set(next.routes.map(({ id }) => id));
  const upstreams = new Set(old.upstreams.map(({ key }) => key));
  const named = new Set(next.upstreams.map(({ id }) => id));
  const isChanged = ({ id, key }: Route) => before.has(id) && before.get(id)?.key !== key;
  const isNowPublic = ({ id, access }: Route) => access === 'public' && before.get(id)?.access !== 'public';
  const isNowProtected = ({ id, access }: Route) => access === 'protected' && before.get(id)?.access === 'public';
  const serverKeys = Object.keys(next.server.keys) as (keyof Plan['server']['keys'])[];
  return {
    added: idsOf(next.routes.filter(({ id }) => !before.has(id))),
    removed: idsOf(old.routes.filter(({ id }) => !after.has(id))),
    changed: idsOf(next.routes.filter(isChanged)),
    nowPublic: idsOf(next.routes.filter(isNowPublic)),
    nowProtected: idsOf(next.routes.filter(isNowProtected)),
    upstreams: idsOf(next.upstreams.filter(({ key }) => !upstreams.has(key))),
    upstreamsRemoved: idsOf(old.upstreams.filter(({ id }) => !named.has(id))),
    server: serverKeys.filter((key) => old.server.keys[key] !== next.server.keys[key]),
    rules: changedRules(old, next),
    needsRestart: settingsNeedingRestart(old, next),
  };
}

/** The keys of a plan that are otherwise than the process began with. */
export function settingsNeedingRestart(began: StartupSettings, plan: StartupSettings): string[] {
  const isMoved = (key: 'listen' | 'admin') => JSON.stringify(began[key]) !== JSON.stringify(plan[key]);
  const isRekeyed = (began.server.tls === undefined) !== (plan.server.tls === undefined);
  return [...(['listen', 'admin'] as const).filter(isMoved), ...(isRekeyed ? ['server.tls'] : [])];
}

/** By meaning, in one line: `2 routes added, 1 now public`. */
export function summarizeChanges(changes: PlanChanges): string {
  const counts = [
    formatCount(changes.added, 'route', 'added'),
    formatCount(changes.removed, 'route', 'removed'),
    formatCount(changes.changed, 'route', 'changed'),
    ...(changes.nowPublic.length > 0 ? [`${changes.nowPublic.length} now public`] : []),
    ...(changes.nowProtected.length > 0 ? [`${changes.nowProtected.length} now protected`] : []),
    formatCount(changes.upstreams, 'upstream', 'new or changed'),
    formatCount(changes.upstreamsRemoved, 'upstream', 'removed'),
    ...[...changes.rules, ...changes.server.map((key) => `server.${key}`)].map((key) => `${key} changed`),
  ];
  return counts.filter((part) => part !== '').join(', ') || 'nothing that is served changed';
}

function formatCount({ length }: readonly string[], noun: string, what: string): string {
  return length === 0 ? '' : `${length} ${noun}${length === 1 ? '' : 's'} ${what}`;
}

function changedRules(old: Plan, next: Plan): PlanChanges['rules'] {
  const isOther = {
    tokens: old.auth?.verifier.key !== next.auth?.verifier.key,
    role: roleOf(old.auth) !== roleOf(next.auth),
    cors: old.cors?.key !== next.cors?.key,
  };
  return (['tokens', 'role', 'cors'] as const).filter((rule) => isOther[rule]);
}

function roleOf(auth: Auth | undefined): string | undefined {
  return auth && JSON.stringify([auth.role.key, auth.role.message]);
}

function idsOf(things: readonly { readonly id: string }[]): string[] {
  return things.map(({ id }) => id);
}
