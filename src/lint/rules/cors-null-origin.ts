import { findingAt, type Rule } from '../rule.ts';

export const corsNullOrigin: Rule = {
  id: 'cors-null-origin',
  category: 'auth',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'Any page can have the origin null, by a sandboxed frame: who allows it allows everybody.',
  *find({ manifest }) {
    for (const [index, origin] of (manifest.cors?.origins ?? []).entries())
      if (origin === 'null')
        yield findingAt(['cors', 'origins', index], 'any page can have this origin; list the origins that are meant');
  },
};
