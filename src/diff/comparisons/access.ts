import type { Comparison } from '../difference.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const routePublic: Comparison = {
  id: 'route-public',
  severity: 'error',
  description: 'Requests that required a token no longer require one.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (pair.from.entry.access === 'protected' && pair.to.entry.access === 'public')
        yield findingAtKey(pair, 'access', 'is now public: it no longer requires a token');
  },
};

export const routeProtected: Comparison = {
  id: 'route-protected',
  severity: 'warning',
  description: 'Requests that required no token now require one.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (pair.from.entry.access === 'public' && pair.to.entry.access === 'protected')
        yield findingAtKey(pair, 'access', 'is now protected: it requires a token');
  },
};
