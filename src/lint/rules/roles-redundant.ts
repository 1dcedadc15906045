import { findingAtKey, type Rule } from '../rule.ts';

export const rolesRedundant: Rule = {
  id: 'roles-redundant',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'A list of all roles narrows nothing today, and will when a role is added: whoever reads it cannot tell which was meant.',
  *find({ manifest, routes }) {
    const allowed = manifest.auth?.role.allow ?? [];
    for (const { entry, path } of routes)
      if (entry.roles !== undefined && allowed.length > 1 && allowed.every((role) => entry.roles?.includes(role)))
        yield findingAtKey(
          [...path, 'roles'],
          'these are all the roles there are; leave "roles" out, or name those that are meant',
        );
  },
};
