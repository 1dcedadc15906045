import { expect, it } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import { AUDIENCE, ISSUER, startIssuer } from '../../support/issuer.ts';
import { startUpstream } from '../../support/upstream.ts';

const MANIFEST = `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: '\${UP}' } }
auth:
  tokens: { jwt: { jwks: '\${JWKS}', algorithms: [ES256], issuer: '${ISSUER}', audience: ${AUDIENCE} } }
  role: { claim: /company_role, allow: [user], message: users only }
rateLimits:
  exports: { key: route, allow: 2 per 1h }
  exports-of-caller: { key: subject, allow: 1 per 1h }
routes:
  - { id: export, method: POST, path: /export, upstream: up, access: protected, rateLimits: [exports-of-caller, exports] }
`;

it('the limit of a route is not used up by requests without a valid token, nor by one caller', async () => {
  const [issuer, upstream] = [await startIssuer(), await startUpstream()];
  const gateway = await startGateway(MANIFEST, { UP: upstream.url, JWKS: issuer.jwksUrl }, {}, undefined, () => 0);
  const send = async (token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    return (await fetch(`${gateway.url}/export`, { method: 'POST', headers })).status;
  };
  const tokenOf = (sub: string, company_role = 'user') => issuer.token({ company_role, sub });
  for (let count = 0; count < 3; count += 1) {
    expect(await send()).toBe(401);
    expect(await send('invalid')).toBe(401);
    expect(await send(await tokenOf('eve', 'auditor'))).toBe(403);
  }
  const statuses = [];
  for (const sub of ['ann', 'ann', 'ann', 'bob', 'cid']) statuses.push(await send(await tokenOf(sub)));
  expect(statuses).toEqual([200, 429, 429, 200, 429]);
  await gateway.close();
  await upstream.close();
  await issuer.close();
});
