import { findingAt, type Rule } from '../rule.ts';

export const corsNullOrigin: Rule = {
  id: 'cors-null-origin',
  category: 'auth',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'Any page can obtain the origin null with a sandboxed frame, so allowing it allows every page.',
  *find({ manifest }) {
    for (const [index, origin] of (manifest.cors?.origins ?? []).entries())
      if (origin === 'null')
        yield findingAt(
          ['cors', 'origins', index],
          'any page can obtain this origin; list the origins that need access',
        );
  },
};
