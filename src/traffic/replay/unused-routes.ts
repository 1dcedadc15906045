import { sortMethods } from '../../engine/http1/http-methods.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { ANY_ROLE } from '../../engine/tokens/token-entries.ts';
import type { LoggedRequest } from '../access-log/logged-request.ts';
import { UPSTREAM_REFUSALS } from '../outcome.ts';

/** The routes, methods and roles of the manifest that wrote a log that no allowed request used. */
export type UnusedReport = ReturnType<ReturnType<typeof createUnusedRoutes>['report']>;

/** A route, and what the allowed requests used of it. */
type RouteUse = ReturnType<typeof noUse>;

function noUse(route: Route) {
  return { route, methods: new Set<string>(), roles: new Set<string>(), lacksRoles: false };
}

/** Collects the routes, methods and roles of allowed requests. The plan is that of the manifest that wrote the log. */
export function createUnusedRoutes({ routes, log }: Plan) {
  const uses = new Map(routes.map((route) => [route.id, noUse(route)]));
  let isSampled = log.sample2xx < 1;
  return {
    add: ({ method, route, refusal, roles, manifest, weight }: LoggedRequest): void => {
      if (weight > 1) isSampled = true;
      const use = uses.get(route ?? '');
      // A request that failed at the upstream was allowed.
      const isAllowed = refusal === undefined || (UPSTREAM_REFUSALS as ReadonlySet<string>).has(refusal);
      if (!isAllowed || use === undefined || method === undefined) return;
      use.methods.add(method);
      for (const role of roles ?? []) use.roles.add(role);
      use.lacksRoles ||= manifest === undefined;
    },
    report: () => {
      const all = [...uses.values()];
      const byRoute = (unusedOf: (use: RouteUse) => readonly string[]) => {
        const entries = all.map((use) => [use.route.id, use.methods.size === 0 ? [] : unusedOf(use)] as const);
        return Object.fromEntries(entries.filter(([, unused]) => unused.length > 0));
      };
      return {
        /** True if the log has only a share of the requests, so a use may be missing. */
        sampled: isSampled,
        /** Ids in the order of the manifest. */
        routes: all.filter(({ methods }) => methods.size === 0).map(({ route }) => route.id),
        /** By the ids of the other routes. */
        methods: byRoute(unusedMethods),
        /** By the ids of the other protected routes, except those whose lines lack the roles. As the log writes them. */
        roles: byRoute(unusedRoles),
      };
    },
  };
}

/** A route with GET accepts HEAD too, so a HEAD request uses GET, and HEAD alone cannot be removed. */
function unusedMethods({ route: { methods }, methods: used }: RouteUse): readonly string[] {
  const isUsed = (method: string) => used.has(method) || (method === 'GET' && used.has('HEAD'));
  return sortMethods(methods.filter((method) => !isUsed(method) && !(method === 'HEAD' && methods.includes('GET'))));
}

/** The log of a login has the roles of the new token, and not those of the caller. */
function unusedRoles({ route: { access, auth, login }, roles, lacksRoles }: RouteUse): readonly string[] {
  if (access === 'public' || login !== undefined || lacksRoles || auth?.role.isAny === true) return [];
  // `any` stands for an issuer whose tokens need no role.
  return auth?.role.redactedRoles.filter((role) => role !== ANY_ROLE && !roles.has(role)) ?? [];
}
