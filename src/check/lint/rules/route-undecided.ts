import { findingAt, type Rule } from '../rule.ts';

export const routeUndecided: Rule = {
  id: 'route-undecided',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Paths with escapes, capitals or leading dots have several readings. If there are too many of them to try, a public route may receive requests for a protected path although no other rule reports it.',
  *find({ routes, witnessSearch }) {
    // The rules before this one have searched too. This search finds routes whose paths no rule has tried.
    for (const lintRoute of routes) witnessSearch.isUnreachable(lintRoute, lintRoute.route.methods);
    const [first, ...others] = witnessSearch.undecidedRoutes();
    if (first === undefined) return;
    const more = others.length === 0 ? '' : ` and ${others.length} other route${others.length === 1 ? '' : 's'}`;
    const message = `the search for requests to this route${more} stopped after ${witnessSearch.stepCount()} spellings, so findings may be missing; write literals in lower case without escapes and leading dots`;
    yield findingAt([...first.path, 'path'], message);
  },
};
