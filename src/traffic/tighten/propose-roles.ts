import type { Route } from '../../engine/plan/route-definition.ts';
import type { ManifestChange, MapKey } from './manifest-change.ts';
import type { Proposal } from './proposal.ts';
import { formatList } from './propose-routes.ts';
import { evidenceOf, type Round } from './round.ts';
import type { RouteUse, TightenState } from './tighten-state.ts';
import type { RequestGroup } from './usage.ts';

/** Proposes to remove roles from `auth.role.allow` that no request needed; if there are none, from single routes. */
export function* proposeRoles(round: Round): Generator<Proposal> {
  const { state, usage } = round;
  const { auth } = state.loaded.plan;
  if (usage.isSampled || auth === undefined || hasHiddenRoles(state)) return;
  const guarded = state.uses.filter(({ route }) => route.auth !== undefined);
  const alwaysNeeded = new Set(guarded.flatMap(onlyRoles));
  const neededBy = new Map(guarded.map((use) => [use, neededRoles(use, alwaysNeeded)]));
  const unneeded = unneededEverywhere(guarded, neededBy, auth.role.required);
  for (const role of unneeded)
    yield {
      id: `role/auth/${role}`,
      kind: 'role',
      message: `no request needed the role "${role}"; remove it from auth.role.allow`,
      route: undefined,
      path: ['auth', 'role', 'allow'],
      changes: removalOfRole(role, state),
      ...evidenceOf(round, ...guarded),
    };
  // Both kinds change the lists of routes, so the second one waits for the next round.
  if (unneeded.length === 0) for (const [use, needed] of neededBy) yield* proposeRouteRoles(round, use, needed);
}

function* proposeRouteRoles(round: Round, use: RouteUse, needed: ReadonlySet<string> | undefined): Generator<Proposal> {
  const { route, entry, index } = use;
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

type NeededRoles = ReadonlyMap<RouteUse, ReadonlySet<string> | undefined>;

/** Returns the roles of `allow` that no route needed; none if the log lacks the roles of a route. */
function unneededEverywhere(
  guarded: readonly RouteUse[],
  neededBy: NeededRoles,
  allow: readonly string[],
): readonly string[] {
  const used = guarded.filter(({ groups, route }) => groups.some((group) => !isLoginWithoutToken(group, route)));
  const needed = used.map((use) => neededBy.get(use));
  if (used.length === 0 || needed.includes(undefined)) return [];
  const all = new Set(needed.flatMap((roles) => [...(roles ?? [])]));
  if (all.size === 0) return [];
  const unneeded = allow.filter((role) => !all.has(role));
  // A route that is not used, but stays, needs one of its roles to load.
  const held = guarded.flatMap(({ entry: { roles = [] } }) =>
    roles.every((role) => unneeded.includes(role)) ? roles : [],
  );
  return unneeded.filter((role) => !held.includes(role));
}

/** Returns the roles that were the only allowed ones of a caller. */
function onlyRoles(use: RouteUse): readonly string[] {
  return (roleSets(use) ?? []).flatMap((roles) => (roles.length === 1 ? roles : []));
}

/**
 * Returns the roles that requests of a route needed; `undefined` if the log lacks roles. Of several roles of a caller, one is
 * enough: one that this route or another one needs anyway, otherwise each of them may be.
 */
function neededRoles(use: RouteUse, alwaysNeeded: ReadonlySet<string>): ReadonlySet<string> | undefined {
  const sets = roleSets(use);
  if (sets === undefined || sets.length === 0) return undefined;
  const needed = new Set(onlyRoles(use));
  for (const roles of sets) {
    if (roles.some((role) => needed.has(role))) continue;
    const anyway = roles.filter((role) => alwaysNeeded.has(role));
    for (const role of anyway.length === 0 ? roles : anyway) needed.add(role);
  }
  return needed;
}

/** Returns the allowed roles of each group of callers; `undefined` if the log lacks roles. */
function roleSets({ route, groups }: RouteUse): readonly (readonly string[])[] | undefined {
  const required = route.auth?.role.required ?? [];
  const known = groups.filter((group) => !isLoginWithoutToken(group, route));
  if (known.some(({ roles }) => roles === undefined)) return undefined;
  return known.map(({ roles = [] }) => required.filter((role) => roles.includes(role)));
}

/** A login response without a token has no role. */
function isLoginWithoutToken({ roles, hasReplay }: RequestGroup, { access }: Route): boolean {
  return roles === undefined && hasReplay && access === 'public';
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
