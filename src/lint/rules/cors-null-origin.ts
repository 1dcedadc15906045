import { at, type Rule } from '../rule.ts';

export const corsNullOrigin: Rule = {
  id: 'cors-null-origin',
  family: 'auth',
  severity: 'warning',
  preset: 'minimal',
  why: 'Any page can have the origin null, by a sandboxed frame: who allows it allows everybody.',
  *find({ manifest }) {
    for (const [index, origin] of (manifest.cors?.origins ?? []).entries())
      if (origin === 'null')
        yield at(['cors', 'origins', index], 'any page can have this origin; list the origins that are meant');
  },
};
