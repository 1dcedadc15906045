import type { Pattern } from '../../../engine/routing/pattern.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const loginWithoutGate: Rule = {
  id: 'login-without-gate',
  category: 'auth',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'Without the role gate a user whose role is not allowed still receives a token at login, and every later request with it fails.',
  *find({ manifest, routes }) {
    if (manifest.auth === undefined) return;
    for (const { entry, route, path, pattern } of routes) {
      if (entry.access === 'protected' || entry.login !== undefined || !route.methods.includes('POST')) continue;
      if (!isLogin(pattern)) continue;
      const message =
        'this looks like a login, and it issues tokens to users of any role; add login: with the location of the token, or {} to search the complete response';
      yield findingAtKey([...path, 'access'], message);
    }
  },
};

const LOGIN =
  /^(?:log-?in|sign-?in|(?:social|oauth2?|google|facebook)-?(?:auth|login)|authenticate|sessions?|token|sso)$/i;
const SECOND_STEP = /^(?:mfa|2fa|otp|totp|verify|challenge|callback|confirm)$/i;

/** True if the last literal segment names a login, or a second step after one. */
function isLogin(pattern: Pattern): boolean {
  const texts = pattern.flatMap((segment) => (segment.kind === 'literal' ? [segment.text] : []));
  const last = texts.at(-1) ?? '';
  return LOGIN.test(last) || (SECOND_STEP.test(last) && LOGIN.test(texts.at(-2) ?? ''));
}
