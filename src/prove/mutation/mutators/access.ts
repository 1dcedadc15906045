import { nestValue } from '../../../engine/json-pointer.ts';
import { withItems, withoutValue, withValue } from '../edits.ts';
import type { Mutator, Probe, TestedRoute } from '../mutant.ts';
import { withClaims, withoutToken, withRole } from '../probes.ts';

export const roleAdded: Mutator = {
  id: 'role-added',
  summary: '`auth.role.allow` has one more role, a role that the test file uses if possible',
  *find({ manifest, routes, otherRole }) {
    if (manifest.auth === undefined) return;
    yield {
      path: ['auth', 'role', 'allow'],
      message: `the role "${otherRole}" is allowed`,
      manifest: withItems(manifest, ['auth', 'role', 'allow'], otherRole),
      routes: guarded(routes),
      probes: (base) => [withRole(base, otherRole)],
    };
  },
};

export const routeRoleAdded: Mutator = {
  id: 'route-role-added',
  summary: 'the `roles` of a route have one more role of `auth.role.allow`',
  *find({ manifest, routes, tokenOfRole }) {
    for (const tested of routes) {
      const { roles } = tested.entry;
      if (roles === undefined) continue;
      const others = manifest.auth?.role.allow.filter((role) => !roles.includes(role)) ?? [];
      for (const role of others)
        yield {
          path: [...tested.path, 'roles'],
          message: `"${tested.entry.id}" also allows the role "${role}"`,
          manifest: withItems(manifest, [...tested.path, 'roles'], role),
          routes: [tested],
          probes: (base) => [withRole(base, role), ...loginsWith(base, tested, tokenOfRole(role))],
          advice:
            tokenOfRole(role) === undefined
              ? `define a token with the role "${role}" in "tokens", and expect that "${tested.entry.id}" refuses a response with it`
              : undefined,
        };
    }
  },
};

/** Returns a login response with this token. */
function loginsWith(base: Probe, { entry }: TestedRoute, token: string | undefined): Probe[] {
  const [pointer] = [entry.login?.token ?? []].flat();
  if (pointer === undefined || token === undefined) return [];
  return [{ ...base, response: { status: 200, headers: {}, body: nestValue(pointer, token) as object } }];
}

export const roleClaim: Mutator = {
  id: 'role-claim',
  summary: 'the role is read from another claim, or in another form',
  *find({ manifest, routes }) {
    if (manifest.auth === undefined) return;
    const { claim, array, allow } = manifest.auth.role;
    const other = claim === '/role' ? '/roles' : '/role';
    const claims = (pointer: string, isArray: boolean) =>
      allow.map((role) => nestValue(pointer, isArray ? [role] : role) as Readonly<Record<string, unknown>>);
    yield {
      path: ['auth', 'role', 'claim'],
      message: `the role is read from ${other}, not from ${claim}`,
      manifest: withValue(manifest, ['auth', 'role', 'claim'], other),
      routes: guarded(routes),
      probes: (base) => [...claims(claim, array), ...claims(other, array)].map((each) => withClaims(base, each)),
    };
    yield {
      path: ['auth', 'role', 'array'],
      message: `the claim ${claim} is read as ${array ? 'one role' : 'a list of roles'}`,
      manifest: withValue(manifest, ['auth', 'role', 'array'], !array),
      routes: guarded(routes),
      probes: (base) => [...claims(claim, array), ...claims(claim, !array)].map((each) => withClaims(base, each)),
    };
  },
};

export const refusalText: Mutator = {
  id: 'refusal-text',
  summary: '`auth.role.message` or `auth.realm` has another text',
  *find({ manifest, routes, otherRole }) {
    if (manifest.auth === undefined) return;
    const texts = [
      [['auth', 'role', 'message'], manifest.auth.role.message, 'the refusal of a role has another message'],
      [['auth', 'realm'], manifest.auth.realm, 'the challenge has another realm'],
    ] as const;
    for (const [path, text, message] of texts)
      yield {
        path,
        message,
        manifest: withValue(manifest, path, `${text} changed`),
        routes: guarded(routes),
        probes: (base) => [withRole(base, otherRole), withoutToken(base)],
      };
  },
};

/** Returns the routes that verify tokens. */
function guarded(routes: readonly TestedRoute[]): TestedRoute[] {
  return routes.filter(({ route }) => route.access === 'protected');
}

export const tokenCheckDropped: Mutator = {
  id: 'token-check-dropped',
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
};

const TOKEN_CHECKS = ['algorithms', 'issuer', 'audience', 'type', 'requiredClaims'];
