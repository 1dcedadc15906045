import type { Pattern } from '../../../engine/routing/pattern.ts';
import { ANY_ROLE, guardEntries, rolesOfEntry, tokenEntries } from '../../../engine/tokens/token-entries.ts';
import { hasWriteMethod } from '../lint-context.ts';
import { rulesOf } from '../rule.ts';

/** Rules for logins, for roles, and for what callers without a token may send. */
export const ACCESS_RULES = rulesOf('auth', {
  'login-without-gate': {
    level: ['warning', 'minimal'],
    rationale:
      'Without the role gate a user whose role is not allowed still receives a token at login, and every later request with it fails.',
    atKey: ['access'],
    route: ({ entry: { access, login }, route, pattern }, { manifest: { auth } }) =>
      auth !== undefined &&
      access === 'public' &&
      login === undefined &&
      route.methods.includes('POST') &&
      isLogin(pattern) &&
      'this looks like a login, and it issues tokens to users of any role; add login: with the location of the token, or {} to search the complete response',
  },
  'public-write-unbounded': {
    level: ['warning', 'recommended'],
    rationale: 'Clients without a token may send bodies of unlimited length, and the upstream receives all of it.',
    at: ['access'],
    route: ({ entry }) =>
      entry.access === 'public' &&
      entry.body === undefined &&
      entry.upstream !== undefined &&
      hasWriteMethod(entry, true) &&
      'anyone may send a body of any length here; add body: with a schema, or at least with maxBytes',
  },
  'public-write-without-schema': {
    level: ['info', 'recommended'],
    rationale:
      'The upstream receives bodies from anyone without validation; a schema rejects most malformed and hostile input first.',
    atKey: ['body'],
    route: ({ entry }) => {
      if (entry.access === 'protected' || entry.body === undefined || !hasWriteMethod(entry, true)) return false;
      // A form and a table have rules of their own, and no other type than JSON has a schema.
      const { schema, multipart, csv, types } = entry.body;
      const mayHaveSchema = types?.every((type) => /[/+]json$/.test(type)) !== false;
      const message = 'anyone may send any body within the size limit here; add schema: to validate it';
      return (schema ?? multipart ?? csv) === undefined && mayHaveSchema && message;
    },
  },
  'roles-redundant': {
    level: ['info', 'recommended'],
    rationale:
      'A list of all roles restricts nothing today but excludes roles that are added later, and readers cannot know which was intended.',
    atKey: ['roles'],
    route: ({ entry }, { manifest }) => {
      const allowed = guardEntries(tokenEntries(manifest.auth), entry).flatMap(({ allow }) => allow);
      const isChoice = allowed.length > 1 || allowed[0] === ANY_ROLE;
      const isEach = isChoice && allowed.every((role) => rolesOfEntry(entry.roles ?? []).includes(role));
      return isEach && 'this lists every role; remove "roles", or list only the roles that need access';
    },
  },
});

const LOGIN =
  /^(?:log-?in|sign-?in|(?:social|oauth2?|google|facebook)-?(?:auth|login)|authenticate|sessions?|token|sso)$/i;
const SECOND_STEP = /^(?:mfa|2fa|otp|totp|verify|challenge|callback|confirm)$/i;

/** True if the last literal segment names a login, or a second step after one. */
function isLogin(pattern: Pattern): boolean {
  const texts = pattern.flatMap((segment) => (segment.kind === 'literal' ? [segment.text] : []));
  const last = texts.at(-1) ?? '';
  return LOGIN.test(last) || (SECOND_STEP.test(last) && LOGIN.test(texts.at(-2) ?? ''));
}
