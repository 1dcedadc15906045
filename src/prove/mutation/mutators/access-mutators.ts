import { ANY_ROLE, rolesOfEntry } from '../../../engine/tokens/auth.ts';
import { claimsOfRole } from '../../offline/role-claims.ts';
import { inEachRoute, type RouteChange, withItems, withoutValue, withValue } from '../edits.ts';
import type { Mutators, Probe, TestedRoute } from '../mutant.ts';
import { loginResponses, withClaims, withoutToken, withRole } from '../probes.ts';

export const accessMutators: Mutators = {
  'role-added': {
    summary: '`auth.role.allow` has one more role, a role that the test file uses if possible',
    *find({ manifest, routes, otherRole }) {
      if (manifest.auth === undefined || manifest.auth.role === ANY_ROLE) return;
      yield {
        path: ['auth', 'role', 'allow'],
        message: `the role "${otherRole}" is allowed`,
        manifest: withItems(manifest, ['auth', 'role', 'allow'], otherRole),
        routes: guarded(routes),
        probes: (base) => [withRole(base, otherRole)],
      };
    },
  },
  'route-role-added': {
    summary: 'the `roles` of a route have one more role of `auth.role.allow`',
    find: inEachRoute((tested, { manifest, tokenOfRole }) => {
      const { roles = ANY_ROLE, id } = tested.entry;
      if (manifest.auth === undefined || roles === ANY_ROLE) return [];
      const others = rolesOfEntry(manifest.auth.role).filter((role) => !roles.includes(role));
      return others.map((role): RouteChange => {
        const token = tokenOfRole(role);
        const advice = `define a token with the role "${role}" in "tokens", and expect that "${id}" refuses a response with it`;
        return {
          at: ['roles'],
          value: [...roles, role],
          effect: `also allows the role "${role}"`,
          probes: (base) => [withRole(base, role), ...loginResponses(base, tested, token)],
          advice: token === undefined ? advice : undefined,
        };
      });
    }),
  },
  'route-role-any-removed': {
    summary: 'a route with `roles: any` allows only the roles of `auth.role.allow`',
    find: inEachRoute(function* (tested, { manifest, otherRole, tokenOfRole }) {
      if (tested.entry.roles !== ANY_ROLE || manifest.auth?.role === ANY_ROLE) return;
      yield {
        at: ['roles'],
        effect: 'allows only the roles of auth.role',
        probes: (base) => [withRole(base, otherRole), ...loginResponses(base, tested, tokenOfRole(otherRole))],
      };
    }),
  },
  'role-claim': {
    summary: 'the role is read from another claim, or in another form',
    *find({ manifest, routes }) {
      if (manifest.auth === undefined || manifest.auth.role === ANY_ROLE) return;
      const { claim, array = false, format, allow } = manifest.auth.role;
      const other = claim === '/role' ? '/roles' : '/role';
      const claims = (pointer: string, isArray: boolean) =>
        allow.map((role) => claimsOfRole({ claim: pointer, array: isArray }, role));
      yield {
        path: ['auth', 'role', 'claim'],
        message: `the role is read from ${other}, not from ${claim}`,
        manifest: withValue(manifest, ['auth', 'role', 'claim'], other),
        routes: guarded(routes),
        probes: (base) => [...claims(claim, array), ...claims(other, array)].map((each) => withClaims(base, each)),
      };
      if (format === 'words') {
        yield {
          path: ['auth', 'role', 'format'],
          message: `the claim ${claim} is read as one role`,
          manifest: withValue(manifest, ['auth', 'role', 'format'], 'one'),
          routes: guarded(routes),
          probes: (base) => allow.map((role) => withClaims(base, claimsOfRole({ claim, array }, `${role} other`))),
        };
        return;
      }
      yield {
        path: ['auth', 'role', 'array'],
        message: `the claim ${claim} is read as ${array ? 'one role' : 'a list of roles'}`,
        manifest: withValue(manifest, ['auth', 'role', 'array'], !array),
        routes: guarded(routes),
        probes: (base) => [...claims(claim, array), ...claims(claim, !array)].map((each) => withClaims(base, each)),
      };
    },
  },
  'refusal-text': {
    summary: '`auth.role.message` or `auth.realm` has another text',
    *find({ manifest, routes, otherRole }) {
      if (manifest.auth === undefined) return;
      const { role, realm } = manifest.auth;
      const messages =
        role === ANY_ROLE
          ? []
          : [[['auth', 'role', 'message'], role.message, 'the refusal of a role has another message'] as const];
      for (const [path, text, message] of [
        ...messages,
        [['auth', 'realm'], realm, 'the challenge has another realm'] as const,
      ])
        yield {
          path,
          message,
          manifest: withValue(manifest, path, `${text} changed`),
          routes: guarded(routes),
          probes: (base) => [withRole(base, otherRole), withoutToken(base)],
        };
    },
  },
  'token-check-dropped': {
    summary:
      'a check of `auth.tokens` is missing; test cases replace the verification of tokens, so none of them can notice it',
    *find({ manifest }) {
      const { jwt, introspection, userinfo } = manifest.auth?.tokens ?? {};
      for (const [kind, entry] of Object.entries({ jwt, introspection, userinfo })) {
        for (const key of TOKEN_CHECKS) {
          const value: unknown = entry === undefined ? undefined : entry[key as keyof typeof entry];
          if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
          yield {
            path: ['auth', 'tokens', kind, key],
            message: `tokens are verified without "${key}"`,
            manifest: withoutValue(manifest, ['auth', 'tokens', kind, key]),
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

/** Returns the routes that verify tokens. */
function guarded(routes: readonly TestedRoute[]): TestedRoute[] {
  return routes.filter(({ route }) => route.access === 'protected');
}

const TOKEN_CHECKS = ['algorithms', 'issuer', 'audience', 'type', 'requiredClaims'];

/** Returns responses with a token that does not verify. */
function tokenResponses(base: Probe, tested: TestedRoute): Probe[] {
  return loginResponses(base, tested, 'unknown-token');
}
