import { findingAtKey, type Rule } from '../rule.ts';

export const authUnused: Rule = {
  id: 'auth-unused',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Tokens are described and none is ever asked for: either a route should be protected, or this describes nothing.',
  *find({ manifest, routes }) {
    if (manifest.auth === undefined || routes.some(({ route }) => route.auth !== undefined)) return;
    yield findingAtKey(['auth'], 'no route is protected and none has "login"; protect one, or remove "auth"');
  },
};
