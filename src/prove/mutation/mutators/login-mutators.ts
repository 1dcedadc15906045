import { withoutValue } from '../edits.ts';
import type { Mutators, Probe, TestedRoute } from '../mutant.ts';
import { loginResponses } from '../probes.ts';
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

/** Returns responses with a token that does not verify. */
function tokenResponses(base: Probe, tested: TestedRoute): Probe[] {
  return loginResponses(base, tested, 'unknown-token');
}
