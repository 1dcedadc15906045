import { becameProtected, becamePublic } from '../../plan/route-pairs.ts';
import type { Comparison } from '../difference.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const routePublic: Comparison = {
  id: 'route-public',
  severity: 'error',
  description: 'Requests that needed a token need none any more.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (becamePublic(pair)) yield findingAtKey(pair, 'access', 'is public: no token is asked for any more');
  },
};

export const routeProtected: Comparison = {
  id: 'route-protected',
  severity: 'warning',
  description: 'Requests that needed no token need one now.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (becameProtected(pair)) yield findingAtKey(pair, 'access', 'is protected: a token is asked for now');
  },
};
