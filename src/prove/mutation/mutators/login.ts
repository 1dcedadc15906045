import { nestValue } from '../../../engine/json-pointer.ts';
import { withoutValue, withValue } from '../edits.ts';
import type { Mutator, Probe, TestedRoute } from '../mutant.ts';

export const loginRemoved: Mutator = {
  id: 'login-removed',
  summary: 'a login route forwards the token of every role',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      if (tested.entry.login === undefined) continue;
      const open = withoutValue(manifest, [...tested.path, 'login']);
      const keepsRoles = tested.entry.access === 'protected' || tested.entry.roles === undefined;
      yield {
        path: [...tested.path, 'login'],
        message: `"${tested.entry.id}" forwards tokens without a check of the role`,
        manifest: keepsRoles ? open : withoutValue(open, [...tested.path, 'roles']),
        routes: [tested],
        probes: tokenResponses,
      };
    }
  },
};

export const loginTokenMoved: Mutator = {
  id: 'login-token-moved',
  summary: 'the token of a login response is expected at another place',
  *find({ manifest, routes }) {
    for (const tested of routes) {
      const { token, header } = tested.entry.login ?? {};
      const path = [...tested.path, 'login'];
      const moved = {
        message: `"${tested.entry.id}" expects the token of the response at another place`,
        routes: [tested],
      };
      for (const [index, pointer] of [token ?? []].flat().entries()) {
        const at = Array.isArray(token) ? [...path, 'token', index] : [...path, 'token'];
        const other = pointer === '/token' ? '/access_token' : '/token';
        yield { ...moved, path: at, manifest: withValue(manifest, at, other), probes: tokenResponses };
      }
      if (header !== undefined)
        yield {
          ...moved,
          path: [...path, 'header'],
          manifest: withValue(manifest, [...path, 'header'], 'X-Other-Token'),
          probes: tokenResponses,
        };
    }
  },
};

/** Yields responses with a token that does not verify, at each place where the route expects one. */
function* tokenResponses(base: Probe, { entry }: TestedRoute): Generator<Probe> {
  const { token, header } = entry.login ?? {};
  for (const pointer of token === undefined ? ['/access_token'] : [token].flat())
    yield { ...base, response: { status: 200, headers: {}, body: nestValue(pointer, 'unknown-token') as object } };
  if (header !== undefined) yield { ...base, response: { status: 200, headers: { [header]: 'unknown-token' } } };
}
