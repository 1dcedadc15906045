import { findingAtKey, type Rule } from '../rule.ts';

export const authUnused: Rule = {
  id: 'auth-unused',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'The manifest configures tokens that no route requires: either a route lacks protection, or the configuration is dead.',
  *find({ manifest, routes }) {
    if (manifest.auth === undefined || routes.some(({ route }) => route.auth !== undefined)) return;
    yield findingAtKey(['auth'], 'no route is protected and none has "login"; protect one, or remove "auth"');
  },
};
