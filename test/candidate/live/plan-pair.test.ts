import { expect, it } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { pairPlans } from '../../../src/traffic/candidate/plan-pair.ts';
import { worldOf } from '../../support/gateway.ts';

function planOf(audience: string): Plan {
  const jwt = { jwks: 'http://127.0.0.1:9/keys', algorithms: ['ES256'], issuer: 'https://identity.test', audience };
  const manifest = {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:9' } },
    auth: { tokens: { jwt }, role: { claim: '/role', allow: ['admin', 'user'], message: 'no' } },
    routes: [
      { id: 'open', method: 'GET', path: '/open', upstream: 'up', access: 'public' },
      { id: 'login', method: 'POST', path: '/login', upstream: 'up', access: 'public', login: {}, roles: ['admin'] },
    ],
  };
  const { plan } = load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, worldOf());
  if (plan === undefined) throw new Error('the manifest has problems');
  return plan;
}

it('a login route differs if the token of the response is verified by other rules', () => {
  const active = planOf('signing');
  const equalIds = (candidate: Plan) => {
    const { isEqualRoute } = pairPlans(active, candidate);
    return active.routes.filter((route, index) => isEqualRoute(route, candidate.routes[index])).map(({ id }) => id);
  };
  expect(equalIds(planOf('signing'))).toEqual(['open', 'login']);
  expect(equalIds(planOf('another'))).toEqual(['open']);
});
