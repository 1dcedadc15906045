import type { Comparison } from '../difference.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const validationReported: Comparison = {
  id: 'validation-reported',
  severity: 'warning',
  description: 'What does not fit the rules of a route is only reported, and goes on.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (pair.from.entry.validation === 'enforce' && pair.to.entry.validation === 'report')
        yield findingAtKey(pair, 'validation', 'only reports what does not fit, before it refused it');
  },
};

export const validationEnforced: Comparison = {
  id: 'validation-enforced',
  severity: 'info',
  description: 'What does not fit the rules of a route is refused now.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (pair.from.entry.validation === 'report' && pair.to.entry.validation === 'enforce')
        yield findingAtKey(pair, 'validation', 'refuses what does not fit, before it only reported it');
  },
};
