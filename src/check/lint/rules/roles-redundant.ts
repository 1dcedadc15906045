import { findingAtKey, type Rule } from '../rule.ts';

export const rolesRedundant: Rule = {
  id: 'roles-redundant',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'A list of all roles restricts nothing today but excludes roles that are added later, and readers cannot know which was intended.',
  *find({ manifest, routes }) {
    const allowed = manifest.auth?.role.allow ?? [];
    for (const { entry, path } of routes)
      if (entry.roles !== undefined && allowed.length > 1 && allowed.every((role) => entry.roles?.includes(role)))
        yield findingAtKey(
          [...path, 'roles'],
          'this lists every role; remove "roles", or list only the roles that need access',
        );
  },
};
