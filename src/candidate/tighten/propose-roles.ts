import type { ManifestChange, MapKey } from './manifest-change.ts';
import type { Proposal } from './proposal.ts';
import { formatList } from './propose-routes.ts';
import { evidenceOf, type Round } from './round.ts';
import type { RouteUse, TightenState } from './tighten-state.ts';

/** Proposes to remove roles from `auth.role.allow` that no request needed; if there are none, from single routes. */
export function* proposeRoles(round: Round): Generator<Proposal> {
  const { state, usage } = round;
  const { auth } = state.loaded.plan;
  if (usage.isSampled || auth === undefined || hasHiddenRoles(state)) return;
  const guarded = state.uses.filter(({ route }) => route.auth !== undefined);
  const unneeded = unneededEverywhere(guarded, auth.role.required);
  for (const role of unneeded) {
    const evidence = evidenceOf(round, ...guarded);
    yield {
      id: `role/auth/${role}`,
      kind: 'role',
      message: `no request needed the role "${role}"; remove it from auth.role.allow`,
      route: undefined,
      path: ['auth', 'role', 'allow'],
      changes: removalOfRole(role, state),
      ...evidence,
    };
  }
  if (unneeded.length === 0) for (const use of guarded) yield* proposeRouteRoles(round, use);
}

function* proposeRouteRoles(round: Round, use: RouteUse): Generator<Proposal> {
  const { route, entry, index } = use;
  const needed = neededRoles(use);
  const required = route.auth?.role.required ?? [];
  const kept = required.filter((role) => needed?.has(role));
  if (kept.length === 0 || kept.length === required.length) return;
  const place = { route: route.id };
  const dropped = required.filter((role) => !kept.includes(role));
  yield {
    id: `role/${route.id}`,
    kind: 'role',
    message: `requests to "${route.id}" needed only the ${kept.length === 1 ? 'role' : 'roles'} ${formatList(kept)}; allow no other`,
    route: route.id,
    path: entry.roles === undefined ? ['routes', index] : ['routes', index, 'roles'],
    changes:
      entry.roles === undefined
        ? [{ change: 'set', place, key: 'roles', value: kept, after: 'access' }]
        : [{ change: 'remove-items', place, key: 'roles', items: dropped }],
    ...evidenceOf(round, use),
  };
}

/** Returns the roles of `allow` that no route needed; none if the log lacks roles of a route. */
function unneededEverywhere(guarded: readonly RouteUse[], allow: readonly string[]): readonly string[] {
  const used = guarded.filter(({ groups }) => groups.length > 0);
  const needed = used.map(neededRoles);
  if (used.length === 0 || needed.includes(undefined)) return [];
  const all = new Set(needed.flatMap((roles) => [...(roles ?? [])]));
  if (all.size === 0) return [];
  const unneeded = allow.filter((role) => !all.has(role));
  // A route that is not used, but stays, needs one of its roles to load.
  const held = guarded.flatMap(({ entry: { roles = [] } }) => (roles.every((role) => unneeded.includes(role)) ? roles : []));
  return unneeded.filter((role) => !held.includes(role));
}

/**
 * Returns the roles that requests of a route needed: a role is not needed if every caller with it has another one that is.
 * `undefined` if the log lacks roles.
 */
function neededRoles({ route, groups }: RouteUse): ReadonlySet<string> | undefined {
  const required = route.auth?.role.required ?? [];
  const needed = new Set<string>();
  const sets: (readonly string[])[] = [];
  for (const { roles, hasReplay } of groups) {
    // A login response without a token has no role.
    if (roles === undefined && hasReplay && route.access === 'public') continue;
    if (roles === undefined) return undefined;
    sets.push(required.filter((role) => roles.includes(role)));
  }
  if (sets.length === 0) return undefined;
  for (const set of sets) if (set.length === 1) needed.add(set[0] as string);
  // Either role would do, so both stay.
  for (const set of sets) if (!set.some((role) => needed.has(role))) for (const role of set) needed.add(role);
  return needed;
}

function removalOfRole(role: string, { uses }: TightenState): ManifestChange[] {
  const places: MapKey[] = [{ place: { path: ['auth', 'role'] }, key: 'allow' }];
  for (const { route, entry } of uses)
    if (entry.roles?.includes(role)) places.push({ place: { route: route.id }, key: 'roles' });
  return places.map((place) => ({ change: 'remove-items', ...place, items: [role] }));
}

/** True if roles come from the environment: neither the log nor a proposal has them. */
function hasHiddenRoles({ uses, loaded: { plan } }: TightenState): boolean {
  const rules = [plan.auth?.role, ...uses.map(({ route }) => route.auth?.role)];
  return rules.some((rule) => rule?.required.some((role, index) => rule.redactedRoles[index] !== role));
}
