import type { Comparison, DiffFinding } from '../difference.ts';
import { becameProtected, becamePublic } from '../route-pairs.ts';
import { findingAtKey, matchedRoutes, requestWitness } from './matched-routes.ts';

export const routePublic: Comparison = {
  id: 'route-public',
  severity: 'error',
  description: 'Requests that required a token no longer require one.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (becamePublic(pair))
        yield withoutCaller(
          findingAtKey(pair, 'access', 'is now public: it no longer requires a token', requestWitness(pair)),
        );
  },
};

export const routeProtected: Comparison = {
  id: 'route-protected',
  severity: 'warning',
  description: 'Requests that required no token now require one.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (becameProtected(pair))
        yield withoutCaller(
          findingAtKey(pair, 'access', 'is now protected: it requires a token', requestWitness(pair)),
        );
  },
};

/** The witness is a request without a token. */
function withoutCaller(finding: DiffFinding): DiffFinding {
  return { ...finding, hasCaller: false };
}
