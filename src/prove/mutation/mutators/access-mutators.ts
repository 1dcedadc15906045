import type { Manifest } from '../../../engine/manifest/manifest.generated.ts';
import {
  ANY_ROLE,
  acceptedEntries,
  guardEntries,
  loginEntry,
  roleEntries,
  type TokenEntry,
  tokenEntries,
} from '../../../engine/tokens/token-entries.ts';
import { claimsOfRole } from '../../offline/role-claims.ts';
import type { CallerClaims } from '../../offline/stub-verifier.ts';
import type { TestedRoute } from '../context.ts';
import { withItems, withoutValue, withValue } from '../edits.ts';
import { inEachRoute, type Mutant, type Mutators, type Probe, type RouteChange } from '../mutant.ts';
import { acceptedMethod, loginResponses, withClaims, withoutToken, withRole } from '../probes.ts';

export const accessMutators: Mutators = {
  'role-added': {
    summary:
      '`allow` of `auth.role`, or of the role of a token method, has one more role, one that the test file uses if possible',
    *find({ manifest, routes, otherRole }) {
      for (const { role, rolePath } of roleEntries(manifest.auth)) {
        if (role === ANY_ROLE) continue;
        const path = [...rolePath, 'allow'];
        yield {
          path,
          message: `the role "${otherRole}" is allowed`,
          manifest: withItems(manifest, path, otherRole),
          routes: guarded(routes, manifest, role),
          probes: (base, tested) => [withRole(base, otherRole, issuerOf(manifest, tested, role))],
        };
      }
    },
  },
  'route-role-added': {
    summary: 'the `roles` of a route have one more role that its token methods allow',
    find: inEachRoute((tested, { manifest, tokenOfRole }) => {
      const { roles = ANY_ROLE, id } = tested.entry;
      if (roles === ANY_ROLE) return [];
      const methods = guardEntries(tokenEntries(manifest.auth), tested.entry);
      const others = new Set(methods.flatMap(({ allow }) => allow)).difference(new Set(roles));
      return [...others].map((role): RouteChange => {
        const token = tokenOfRole(role);
        const advice = `define a token with the role "${role}" in "tokens", and expect that "${id}" refuses a response with it`;
        const issuer = acceptedMethod(manifest, tested, (method) => method.allow.includes(role))?.issuer;
        return {
          at: ['roles'],
          value: [...roles, role],
          effect: `also allows the role "${role}"`,
          probes: (base) => [withRole(base, role, issuer), ...loginResponses(base, tested, token)],
          advice: token === undefined ? advice : undefined,
        };
      });
    }),
  },
  'issuer-added': {
    summary: 'a route accepts the tokens of one more method of `auth.tokens`',
    find: inEachRoute(function* ({ entry }, { manifest }) {
      const methods = tokenEntries(manifest.auth);
      const accepted = acceptedEntries(methods, entry.issuers);
      const isOther = (method: TokenEntry) => entry.access === 'protected' && !accepted.includes(method);
      const { roles = ANY_ROLE } = entry;
      for (const { name = '', allow } of methods.filter(isOther)) {
        const allowed = allow.find((one) => roles === ANY_ROLE || roles.includes(one));
        // The roles of the route are none of this method.
        if (allowed === undefined) continue;
        yield {
          at: ['issuers'],
          value: [...accepted.map((method) => method.name), name],
          effect: `also accepts tokens of "${name}"`,
          probes: (base) => [withRole(base, allowed, name)],
        };
      }
    }),
  },
  'route-role-any-removed': {
    summary: 'a route with `roles: any` allows only the roles of `auth.role.allow`',
    find: inEachRoute(function* (tested, { manifest, otherRole, tokenOfRole }) {
      const method = acceptedMethod(manifest, tested, ({ role }) => role !== ANY_ROLE);
      const isPublic = tested.entry.access === 'public' && manifest.auth?.role !== ANY_ROLE;
      if (tested.entry.roles !== ANY_ROLE || !(isPublic || method !== undefined)) return;
      yield {
        at: ['roles'],
        effect: 'allows only the roles of auth.role',
        probes: (base) => [
          withRole(base, otherRole, method?.issuer),
          ...loginResponses(base, tested, tokenOfRole(otherRole)),
        ],
      };
    }),
  },
  'role-claim': {
    summary: 'the role is read from another claim, or in another form',
    *find({ manifest, routes }) {
      for (const { role, rolePath } of roleEntries(manifest.auth)) {
        if (role === ANY_ROLE) continue;
        const { claim, array = false, format, allow } = role;
        const other = claim === '/role' ? '/roles' : '/role';
        const claims = (pointer: string, isArray: boolean) =>
          allow.map((name) => claimsOfRole({ claim: pointer, array: isArray }, name));
        const change = (key: string, value: unknown, message: string, callers: readonly CallerClaims[]): Mutant => ({
          path: [...rolePath, key],
          message,
          manifest: withValue(manifest, [...rolePath, key], value),
          routes: guarded(routes, manifest, role),
          probes: (base, tested) => callers.map((one) => withClaims(base, one, issuerOf(manifest, tested, role))),
        });
        yield change('claim', other, `the role is read from ${other}, not from ${claim}`, [
          ...claims(claim, array),
          ...claims(other, array),
        ]);
        if (format === 'words') {
          const callers = allow.map((name) => claimsOfRole({ claim, array }, `${name} other`));
          yield change('format', 'one', `the claim ${claim} is read as one role`, callers);
          continue;
        }
        const message = `the claim ${claim} is read as ${array ? 'one role' : 'a list of roles'}`;
        yield change('array', !array, message, [...claims(claim, array), ...claims(claim, !array)]);
      }
    },
  },
  'refusal-text': {
    summary: 'the `message` of a role or `auth.realm` has another text',
    *find({ manifest, routes, otherRole }) {
      for (const { role, rolePath } of roleEntries(manifest.auth)) {
        if (role === ANY_ROLE) continue;
        yield {
          path: [...rolePath, 'message'],
          message: 'the refusal of a role has another message',
          manifest: withValue(manifest, [...rolePath, 'message'], `${role.message} changed`),
          routes: guarded(routes, manifest, role),
          probes: (base, tested) => [withRole(base, otherRole, issuerOf(manifest, tested, role))],
        };
      }
      if (manifest.auth === undefined) return;
      yield {
        path: ['auth', 'realm'],
        message: 'the challenge has another realm',
        manifest: withValue(manifest, ['auth', 'realm'], `${manifest.auth.realm} changed`),
        routes: guarded(routes, manifest),
        probes: (base) => [withRole(base, otherRole), withoutToken(base)],
      };
    },
  },
  'token-check-dropped': {
    summary:
      'a check of `auth.tokens` is missing; test cases replace the verification of tokens, so none of them can notice it',
    *find({ manifest }) {
      for (const { entry, path } of tokenEntries(manifest.auth)) {
        for (const key of TOKEN_CHECKS) {
          const value: unknown = entry[key as keyof typeof entry];
          if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
          yield {
            path: [...path, key],
            message: `tokens are verified without "${key}"`,
            manifest: withoutValue(manifest, [...path, key]),
            routes: [],
            probes: () => [],
            invisible: 'test cases replace the verification of tokens',
          };
        }
      }
    },
  },
  'login-removed': {
    summary: 'a login route forwards the token of every role',
    find: inEachRoute(function* ({ path, entry }, { manifest }) {
      if (entry.login === undefined) return;
      const open = withoutValue(manifest, [...path, 'login']);
      const keepsRoles = entry.access === 'protected' || entry.roles === undefined;
      yield {
        at: ['login'],
        manifest: keepsRoles ? open : withoutValue(open, [...path, 'roles']),
        effect: 'forwards tokens without a check of the role',
        probes: tokenResponses,
      };
    }),
  },
  'login-issuer': {
    summary: 'another method of `auth.tokens` verifies the tokens of a login response',
    find: inEachRoute(function* (tested, { manifest, tokenOfRole }) {
      const { login } = tested.entry;
      const methods = tokenEntries(manifest.auth);
      const current = login && loginEntry(methods, login);
      if (login === undefined || current === undefined) return;
      const isElsewhere = (login.token ?? login.header) !== undefined;
      const other = methods.find((method) => method !== current && (isElsewhere || method.kind === 'jwt'));
      if (other === undefined) return;
      const token = current.allow.map(tokenOfRole).find((text) => text !== undefined);
      const advice = `define a token of "${current.name}" in "tokens", and expect a response with it from "${tested.entry.id}"`;
      yield {
        at: ['login', 'issuer'],
        value: other.name,
        effect: `verifies the tokens of its responses by "${other.name}"`,
        probes: (base) => loginResponses(base, tested, token),
        advice: token === undefined ? advice : undefined,
      };
    }),
  },
  'login-token-moved': {
    summary: 'the token of a login response is expected at another place',
    find: inEachRoute(function* ({ entry }) {
      const { token, header } = entry.login ?? {};
      const moved = { effect: 'expects the token of the response at another place', probes: tokenResponses };
      for (const [index, pointer] of [token ?? []].flat().entries()) {
        const at = ['login', 'token', ...(Array.isArray(token) ? [index] : [])];
        yield { ...moved, at, value: pointer === '/token' ? '/access_token' : '/token' };
      }
      if (header !== undefined) yield { ...moved, at: ['login', 'header'], value: 'X-Other-Token' };
    }),
  },
};

/** Returns the routes that verify tokens. @param role the role rule of a method that they accept; `undefined`: any */
function guarded(routes: readonly TestedRoute[], manifest: Manifest, role?: TokenEntry['role']): TestedRoute[] {
  const isAccepted = (method: TokenEntry) => role === undefined || method.role === role;
  return routes.filter(
    (tested) => tested.route.access === 'protected' && acceptedMethod(manifest, tested, isAccepted) !== undefined,
  );
}

/** Returns the method of a route with a role rule, if there are several. */
function issuerOf(manifest: Manifest, tested: TestedRoute, role: TokenEntry['role']): string | undefined {
  return acceptedMethod(manifest, tested, (method) => method.role === role)?.issuer;
}

const TOKEN_CHECKS = ['algorithms', 'issuer', 'audience', 'type', 'requiredClaims'];

/** Returns responses with a token that does not verify. */
function tokenResponses(base: Probe, tested: TestedRoute): Probe[] {
  return loginResponses(base, tested, 'unknown-token');
}
