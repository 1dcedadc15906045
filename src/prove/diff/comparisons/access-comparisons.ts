import type { Comparisons, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, matchedRoutes, requestWitness } from '../matched-routes.ts';
import { becameProtected, becamePublic } from '../route-pairs.ts';

export const accessComparisons: Comparisons = {
  'route-public': {
    severity: 'error',
    description: 'Requests that required a token no longer require one.',
    find: (sides) => changedAccess(sides, becamePublic, 'is now public: it no longer requires a token'),
  },
  'route-protected': {
    severity: 'warning',
    description: 'Requests that required no token now require one.',
    find: (sides) => changedAccess(sides, becameProtected, 'is now protected: it requires a token'),
  },
};

/** The witness is a request without a token. */
function* changedAccess(sides: DiffContext, isChanged: typeof becamePublic, message: string): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides))
    if (isChanged(pair)) yield { ...findingAtKey(pair, 'access', message, requestWitness(pair)), hasCaller: false };
}
