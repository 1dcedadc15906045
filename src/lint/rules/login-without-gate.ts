import type { Pattern } from '../../plan/routing/pattern.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const loginWithoutGate: Rule = {
  id: 'login-without-gate',
  category: 'auth',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Without the gate a user whose role is not allowed is given a token at login, and learns only later that it opens nothing.',
  *find({ manifest, routes }) {
    if (manifest.auth === undefined) return;
    for (const { entry, route, path, pattern } of routes) {
      if (entry.access === 'protected' || entry.login !== undefined || !route.methods.includes('POST')) continue;
      if (!isLogin(pattern)) continue;
      const message =
        'this looks like a login, and gives its token out to any role; add login: with the place of the token, or {} for any place';
      yield findingAtKey([...path, 'access'], message);
    }
  },
};

const LOGIN =
  /^(?:log-?in|sign-?in|(?:social|oauth2?|google|facebook)-?(?:auth|login)|authenticate|sessions?|token|sso)$/i;
const SECOND_STEP = /^(?:mfa|2fa|otp|totp|verify|challenge|callback|confirm)$/i;

/** Whether the last literal segment is a login's, or the second step of one. */
function isLogin(pattern: Pattern): boolean {
  const texts = pattern.flatMap((segment) => (segment.kind === 'literal' ? [segment.text] : []));
  const last = texts.at(-1) ?? '';
  return LOGIN.test(last) || (SECOND_STEP.test(last) && LOGIN.test(texts.at(-2) ?? ''));
}
