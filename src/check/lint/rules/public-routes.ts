import { foldHeaderName, forgeableHeader } from '../../../engine/header-names.ts';
import type { Route } from '../../../engine/plan/route-definition.ts';
import type { RouteSet } from '../../../engine/routing/route-index.ts';
import { isStricter } from '../../../engine/routing/router.ts';
import type { LintContext, LintRoute } from '../lint-context.ts';
import type { LostRequest } from '../lost-requests.ts';
import { besideRoute, findingAt, rulesOf } from '../rule.ts';

/** The part of a request that a kept header could forge. */
const FORGED = { address: 'the address of a client', identity: 'a user or a client certificate' };

/** Rules for public routes that may receive requests for protected paths. */
export const PUBLIC_ROUTE_RULES = rulesOf('routes', {
  'header-override-kept': {
    level: ['warning', 'minimal'],
    rationale:
      'An upstream that obeys such a header serves another path or method than the one that the gateway matched and authorized.',
    *find({ routes }) {
      for (const { entry, route, path } of routes) {
        const kept = entry.requestHeaders?.keep ?? [];
        const index = kept.findIndex((name) => forgeableHeader(foldHeaderName(name)) === 'override');
        if (index === -1) continue;
        const stricter = routes.find(
          (other) => other.route.upstream === route.upstream && isStricter(other.route, route),
        );
        if (stricter === undefined) continue;
        const message = `with this header a request could reach a path that "${stricter.route.id}" protects; remove it, or make sure that the upstream ignores it`;
        yield findingAt(
          [...path, 'requestHeaders', 'keep', index],
          message,
          besideRoute(stricter, 'the stricter route'),
        );
      }
    },
  },
  'header-identity-kept': {
    level: ['warning', 'minimal'],
    rationale:
      'On a public route anyone can send such a header, and an upstream that believes it takes the client for another one.',
    *find({ routes }) {
      for (const { entry, path } of routes) {
        if (entry.access !== 'public') continue;
        for (const [index, name] of (entry.requestHeaders?.keep ?? []).entries()) {
          const kind = forgeableHeader(foldHeaderName(name));
          if (kind === undefined || kind === 'override') continue;
          const message = `with this header anyone can forge ${FORGED[kind]}; remove it, or make sure that the upstream ignores it`;
          yield findingAt([...path, 'requestHeaders', 'keep', index], message);
        }
      }
    },
  },
  'header-set-elsewhere': {
    level: ['warning', 'recommended'],
    rationale:
      'A service that believes a header because the gateway sets it also believes that of a client, by a route that lets it pass.',
    *find({ routes }) {
      for (const { entry, route, path } of routes)
        for (const name of Object.keys(entry.requestHeaders?.set ?? {})) {
          const open = routes.find((other) => other.route.upstream === route.upstream && mayPass(name, other.route));
          if (open === undefined) continue;
          const message = `clients may send "${name}" to the same upstream by "${open.route.id}"; set or remove it there too`;
          yield findingAt([...path, 'requestHeaders', 'set', name], message, besideRoute(open, 'the other route'));
        }
    },
  },
  'public-any-method': {
    level: ['info', 'strict'],
    rationale:
      'A client without a token should not be able to use methods that the upstream does not mean to offer, for example DELETE.',
    at: ['method'],
    route: ({ entry }) =>
      entry.access === 'public' &&
      entry.method === 'any' &&
      'anyone may use any method here; list the methods that the route needs',
  },
  'public-covers-protected': {
    level: ['warning', 'minimal'],
    rationale:
      'Every path around a protected one is public, so a path that the upstream adds later is public without a decision.',
    *find({ routes, routeIndex, witnessSearch }) {
      const protectedRoutes = routeIndex.select(({ entry }) => entry.access === 'protected');
      for (const publicRoute of routes) {
        if (publicRoute.entry.access === 'protected') continue;
        const covered = routeIndex.patterns.containedIn(publicRoute.pattern, protectedRoutes);
        if (covered.isEmpty()) continue;
        for (const method of routeIndex.distinctMethods(publicRoute.route.methods)) {
          const [first] = covered.copy().intersect(routeIndex.withMethod(method));
          const protectedRoute = routes[first ?? -1];
          if (protectedRoute === undefined) continue;
          const witness = witnessSearch.findRequest(publicRoute, [method]);
          if (witness === undefined) continue;
          const message = `this public path includes ${protectedRoute.route.path} of "${protectedRoute.route.id}", which is protected: ${witness.method} ${witness.path} requires no token; list the public paths, and protect the rest`;
          yield findingAt(
            [...publicRoute.path, 'path'],
            message,
            besideRoute(protectedRoute, 'the protected route', witness),
          );
          break;
        }
      }
    },
  },
  'public-method-gap': {
    level: ['warning', 'minimal'],
    rationale:
      'If a route does not accept the method of a request, a less specific route may: a path that is protected for GET can be public for POST.',
    *find({ plan, routes, routeIndex, witnessSearch }) {
      const { patterns } = routeIndex;
      const unreported = routeIndex.select(({ entry }) => entry.access === 'protected');
      const byUpstream = new Map(
        plan.upstreams.map((upstream) => [upstream, routeIndex.select(({ route }) => route.upstream === upstream)]),
      );
      for (const publicRoute of routes) {
        const { pattern, route, entry } = publicRoute;
        const sameUpstream = route.upstream && byUpstream.get(route.upstream);
        if (entry.access === 'protected' || sameUpstream === undefined) continue;
        const overlapping = patterns.overlapping(pattern, unreported.copy().intersect(sameUpstream));
        const open = overlapping.copy().subtract(patterns.containing(pattern, overlapping));
        for (const method of routeIndex.distinctMethods(route.methods.filter((name) => !HARMLESS.has(name)))) {
          const candidates = open.copy().subtract(routeIndex.withMethod(method));
          for (const { loser, index, witness } of witnessSearch.lostRequests(publicRoute, method, candidates)) {
            open.delete(index);
            unreported.delete(index);
            const message = `${witness.method} ${witness.path} requires no token: this route does not accept ${witness.method}, but the public route "${route.id}" does; protect the other methods of this path too`;
            yield findingAt([...loser.path, 'method'], message, besideRoute(publicRoute, 'the public route', witness));
          }
        }
      }
    },
  },
  'public-overlaps-protected': {
    level: ['warning', 'minimal'],
    rationale:
      'Where both paths match, the public route wins because it is more specific, so a request that belongs to the protected route requires no token.',
    *find(context) {
      const protectedRoutes = context.routeIndex.select(({ entry }) => entry.access === 'protected');
      for (const publicRoute of context.routes) {
        if (publicRoute.entry.access === 'protected') continue;
        // One is enough: the message asks for a narrower path, and the next run reports what remains.
        const [lost] = lostRequests(publicRoute, protectedRoutes, context).take(1);
        if (lost === undefined) continue;
        const { loser, witness } = lost;
        const message = `${witness.method} ${witness.path} requires no token here, although it also matches the protected route "${loser.route.id}"; narrow one of the two paths`;
        yield findingAt([...publicRoute.path, 'path'], message, besideRoute(loser, 'the protected route', witness));
      }
    },
  },
});

/** True if the route forwards a header of clients with this name. */
function mayPass(name: string, { requestHeaders, claims }: Route): boolean {
  const isForgeable = forgeableHeader(foldHeaderName(name)) !== undefined && requestHeaders?.keeps?.(name) !== true;
  return !isForgeable && requestHeaders?.drops(name) !== true && claims?.drops(name) !== true;
}

/** Methods that change nothing and reveal nothing beyond GET. */
const HARMLESS = new Set(['HEAD', 'OPTIONS']);

/** Yields the protected routes that lose requests to a public one, unless its path is an exception within theirs. */
function* lostRequests(
  publicRoute: LintRoute,
  protectedRoutes: RouteSet,
  { routeIndex, witnessSearch }: LintContext,
): Generator<LostRequest<LintRoute>> {
  const { patterns } = routeIndex;
  const { pattern, route } = publicRoute;
  const losing = patterns.following(pattern, patterns.overlapping(pattern, protectedRoutes));
  losing.subtract(patterns.containing(pattern, losing));
  for (const method of routeIndex.distinctMethods(route.methods))
    yield* witnessSearch.lostRequests(publicRoute, method, losing.copy().intersect(routeIndex.withMethod(method)));
}
