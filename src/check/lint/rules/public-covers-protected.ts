import { findingAt, type Rule } from '../rule.ts';

export const publicCoversProtected: Rule = {
  id: 'public-covers-protected',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
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
        yield findingAt([...publicRoute.path, 'path'], message, {
          witness,
          related: { path: [...protectedRoute.path, 'path'], message: 'the protected route' },
        });
        break;
      }
    }
  },
};
