import type { Plan } from '../../engine/plan/plan.ts';
import type { SlicedWork } from '../../engine/plan/sliced-work.ts';
import { limitDefinition } from '../../engine/rate-limits/rate-limit.ts';
import type { PatternRoute } from '../../engine/routing/route-index.ts';
import {
  becameProtected,
  becamePublic,
  type PairingSide,
  pairRoutesSliced,
  type RoutePair,
} from '../../prove/diff/route-pairing.ts';

/** The differences between two plans, by the ids of routes and upstreams, as the log and the admin API name them. */
export type PlanChanges = ReturnType<typeof changesBetween>;

/** The settings that a process cannot change while it runs. */
export type StartupSettings = Pick<Plan, 'listen' | 'admin'> & {
  readonly server: Pick<Plan['server'], 'tls' | 'workers'>;
};

/** Compares two plans, step by step. */
export function* comparePlansSliced(old: Plan, next: Plan): SlicedWork<PlanChanges> {
  const routes = newOrChanged(old.routes, next.routes, ({ id, key }) => `${id} ${key}`);
  const removed = missingFrom(next.routes, old.routes);
  const isSame = routes.length + removed.length === 0;
  const pairs = isSame ? [] : yield* pairRoutesSliced(pairingSideOf(old), pairingSideOf(next));
  return changesBetween(old, next, routes, removed, pairs);
}

function changesBetween(
  old: Plan,
  next: Plan,
  routes: readonly string[],
  removed: readonly string[],
  pairs: readonly RoutePair[],
) {
  const oldIds = new Set(idsOf(old.routes));
  const serverKeys = Object.keys(next.server.keys) as (keyof Plan['server']['keys'])[];
  return {
    /** Routes of only one plan, and those with another definition. */
    added: routes.filter((id) => !oldIds.has(id)),
    removed,
    changed: routes.filter((id) => oldIds.has(id)),
    /** Routes that serve requests without a token that needed a token, or had no route, before. */
    now_public: newRouteIds(next, pairs.filter(becamePublic)),
    /** Routes that need a token for requests that needed none before. */
    now_protected: newRouteIds(next, pairs.filter(becameProtected)),
    /** Upstreams that are new or have a different definition. */
    upstreams: newOrChanged(old.upstreams, next.upstreams, ({ key }) => key),
    upstreams_removed: missingFrom(next.upstreams, old.upstreams),
    /** Rate limits that are new or have a different definition or store. */
    rate_limits: newOrChanged(old.rateLimits, next.rateLimits, limitDefinition),
    rate_limits_removed: missingFrom(next.rateLimits, old.rateLimits),
    /** Keys of `server` whose value, or whose file's content, differs. */
    server: serverKeys.filter((key) => old.server.keys[key] !== next.server.keys[key]),
    /** Changed rules: token verification, the role rule, the headers from claims, CORS, the access log. */
    rules: changedRules(old, next),
    /** Keys of the manifest that need a restart: until then their old values stay active. */
    needs_restart: settingsNeedingRestart(old, next),
  };
}

interface Identified {
  readonly id: string;
}

/** Returns the ids of entries that are new or have another definition. */
function newOrChanged<Entry extends Identified>(
  old: readonly Entry[],
  next: readonly Entry[],
  definitionOf: (entry: Entry) => string,
): string[] {
  const definitions = new Set(old.map(definitionOf));
  return idsOf(next.filter((entry) => !definitions.has(definitionOf(entry))));
}

/** Returns the ids that the first list lacks. */
function missingFrom(list: readonly Identified[], entries: readonly Identified[]): string[] {
  const ids = new Set(idsOf(list));
  return idsOf(entries).filter((id) => !ids.has(id));
}

function pairingSideOf(plan: Plan): PairingSide<PatternRoute> {
  const routes = plan.routes.map((route) => ({ route, pattern: route.pattern }));
  return { plan, routes, routeById: new Map(routes.map((entry) => [entry.route.id, entry])) };
}

/** Returns the ids of the new routes of some pairs, in the order of the manifest. */
function newRouteIds({ routes }: Plan, pairs: readonly RoutePair[]): string[] {
  const ids = new Set(pairs.map(({ to }) => to?.route.id));
  return idsOf(routes).filter((id) => ids.has(id));
}

/** Returns the keys whose values differ from those that the process started with. */
export function settingsNeedingRestart(startup: StartupSettings, plan: StartupSettings): string[] {
  const isChanged = (key: 'listen' | 'admin') => JSON.stringify(startup[key]) !== JSON.stringify(plan[key]);
  const isTlsToggled = (startup.server.tls === undefined) !== (plan.server.tls === undefined);
  return [
    ...(['listen', 'admin'] as const).filter(isChanged),
    ...(isTlsToggled ? ['server.tls'] : []),
    ...(startup.server.workers === plan.server.workers ? [] : ['server.workers']),
  ];
}

/** Summarizes the changes in one line: `2 routes added, 1 now public`. */
export function summarizeChanges(changes: PlanChanges): string {
  const counts = [
    formatCount(changes.added, 'route', 'added'),
    formatCount(changes.removed, 'route', 'removed'),
    formatCount(changes.changed, 'route', 'changed'),
    ...(changes.now_public.length > 0 ? [`${changes.now_public.length} now public`] : []),
    ...(changes.now_protected.length > 0 ? [`${changes.now_protected.length} now protected`] : []),
    formatCount(changes.upstreams, 'upstream', 'new or changed'),
    formatCount(changes.upstreams_removed, 'upstream', 'removed'),
    formatCount(changes.rate_limits, 'rate limit', 'new or changed'),
    formatCount(changes.rate_limits_removed, 'rate limit', 'removed'),
    ...[...changes.rules, ...changes.server.map((key) => `server.${key}`)].map((key) => `${key} changed`),
  ];
  return counts.filter((part) => part !== '').join(', ') || 'no effective changes';
}

function formatCount({ length }: readonly string[], noun: string, change: string): string {
  return length === 0 ? '' : `${length} ${noun}${length === 1 ? '' : 's'} ${change}`;
}

function changedRules(old: Plan, next: Plan) {
  const hasChanged = {
    tokens: old.auth?.verifier.key !== next.auth?.verifier.key,
    role: roleOf(old.auth) !== roleOf(next.auth),
    forward: claimsOf(old) !== claimsOf(next),
    cors: old.cors?.key !== next.cors?.key,
    log: old.log.key !== next.log.key,
  };
  return (['tokens', 'role', 'forward', 'cors', 'log'] as const).filter((rule) => hasChanged[rule]);
}

function claimsOf({ routes }: Plan): string {
  return [...new Set(routes.map(({ claims }) => claims?.key))].sort().join();
}

function roleOf(auth: Plan['auth']): string | undefined {
  return auth && JSON.stringify([auth.role.key, auth.role.messageFor(undefined)]);
}

function idsOf(entries: readonly Identified[]): string[] {
  return entries.map(({ id }) => id);
}
