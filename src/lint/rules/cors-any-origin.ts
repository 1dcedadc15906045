import { findingAt, type Rule } from '../rule.ts';

export const corsAnyOrigin: Rule = {
  id: 'cors-any-origin',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Every page that a user opens may read what this gateway answers there, so an address that is reached from inside alone is read from outside.',
  *find({ manifest }) {
    for (const [index, origin] of (manifest.cors?.origins ?? []).entries())
      if (origin === '*')
        yield findingAt(
          ['cors', 'origins', index],
          'pages of every origin may read answers; list the origins that are meant',
        );
  },
};
