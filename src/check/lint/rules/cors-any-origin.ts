import { findingAt, type Rule } from '../rule.ts';

export const corsAnyOrigin: Rule = {
  id: 'cors-any-origin',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Every page that a user visits may read the responses of this gateway, so an internal gateway becomes readable from outside.',
  *find({ manifest }) {
    for (const [index, origin] of (manifest.cors?.origins ?? []).entries())
      if (origin === '*')
        yield findingAt(
          ['cors', 'origins', index],
          'pages of every origin may read responses; list the origins that need access',
        );
  },
};
