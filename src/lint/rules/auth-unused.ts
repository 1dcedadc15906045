import { atKey, type Rule } from '../rule.ts';

export const authUnused: Rule = {
  id: 'auth-unused',
  family: 'auth',
  severity: 'warning',
  preset: 'recommended',
  why: 'Tokens are described and none is ever asked for: either a route should be protected, or this describes nothing.',
  *find({ manifest, routes }) {
    if (manifest.auth === undefined || routes.some(({ route }) => route.auth !== undefined)) return;
    yield atKey(['auth'], 'no route is protected and none has "login"; protect one, or remove "auth"');
  },
};
