import type { Comparison } from '../difference.ts';
import { invalidWitness } from '../witnesses/body-requests.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const validationReported: Comparison = {
  id: 'validation-reported',
  severity: 'warning',
  description: 'A route only reports invalid requests, and forwards them.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (pair.from.entry.validation === 'enforce' && pair.to.entry.validation === 'report')
        yield findingAtKey(
          pair,
          'validation',
          'now only reports invalid requests (it refused them)',
          invalidWitness(sides, pair),
        );
  },
};

export const validationEnforced: Comparison = {
  id: 'validation-enforced',
  severity: 'info',
  description: 'A route now refuses invalid requests.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      if (pair.from.entry.validation === 'report' && pair.to.entry.validation === 'enforce')
        yield findingAtKey(
          pair,
          'validation',
          'now refuses invalid requests (it only reported them)',
          invalidWitness(sides, pair),
        );
  },
};
