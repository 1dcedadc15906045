import { nestValue } from '../../../engine/json-pointer.ts';
import { withoutValue } from '../edits.ts';
import type { Mutators, Probe, TestedRoute } from '../mutant.ts';
import { inEachRoute } from '../route-changes.ts';

export const loginMutators: Mutators = {
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

/** Yields responses with a token that does not verify, at each place where the route expects one. */
function* tokenResponses(base: Probe, { entry }: TestedRoute): Generator<Probe> {
  const { token, header } = entry.login ?? {};
  for (const pointer of token === undefined ? ['/access_token'] : [token].flat())
    yield { ...base, response: { status: 200, headers: {}, body: nestValue(pointer, 'unknown-token') as object } };
  if (header !== undefined) yield { ...base, response: { status: 200, headers: { [header]: 'unknown-token' } } };
}
