import type { Pattern } from '../../../engine/routing/pattern.ts';
import { ANY_ROLE, guardEntries, rolesOfEntry, tokenEntries } from '../../../engine/tokens/token-entries.ts';
import { hasWriteMethod } from '../lint-context.ts';
import { findingAt, findingAtKey, rulesOf } from '../rule.ts';

/** Rules for logins, for roles, and for what callers without a token may send. */
export const ACCESS_RULES = rulesOf('auth', {
  'login-without-gate': {
    level: ['warning', 'minimal'],
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
  },
  'public-write-unbounded': {
    level: ['warning', 'recommended'],
    rationale: 'Clients without a token may send bodies of unlimited length, and the upstream receives all of it.',
    *find({ routes }) {
      for (const { entry, path } of routes) {
        const isBounded = entry.body !== undefined || entry.upstream === undefined;
        if (entry.access === 'protected' || isBounded || !hasWriteMethod(entry, true)) continue;
        yield findingAt(
          [...path, 'access'],
          'anyone may send a body of any length here; add body: with a schema, or at least with maxBytes',
        );
      }
    },
  },
  'public-write-without-schema': {
    level: ['info', 'recommended'],
    rationale:
      'The upstream receives bodies from anyone without validation; a schema rejects most malformed and hostile input first.',
    *find({ routes }) {
      for (const { entry, path } of routes) {
        if (entry.access === 'protected' || entry.body === undefined || !hasWriteMethod(entry, true)) continue;
        // A form and a table have rules of their own, and no other type than JSON has a schema.
        const { schema, multipart, csv, types } = entry.body;
        if ((schema ?? multipart ?? csv) === undefined && types?.every((type) => /[/+]json$/.test(type)) !== false)
          yield findingAtKey(
            [...path, 'body'],
            'anyone may send any body within the size limit here; add schema: to validate it',
          );
      }
    },
  },
  'roles-redundant': {
    level: ['info', 'recommended'],
    rationale:
      'A list of all roles restricts nothing today but excludes roles that are added later, and readers cannot know which was intended.',
    *find({ manifest, routes }) {
      const methods = tokenEntries(manifest.auth);
      for (const { entry, path } of routes) {
        const allowed = guardEntries(methods, entry).flatMap(({ allow }) => allow);
        const isChoice = allowed.length > 1 || allowed[0] === ANY_ROLE;
        if (isChoice && allowed.every((role) => rolesOfEntry(entry.roles ?? []).includes(role)))
          yield findingAtKey(
            [...path, 'roles'],
            'this lists every role; remove "roles", or list only the roles that need access',
          );
      }
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
