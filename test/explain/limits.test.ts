import { describe, expect, it, test } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { explain } from '../../src/prove/explain/explain-request.ts';
import type { CallerClaims } from '../../src/prove/offline/stub-verifier.ts';
import { worldOf } from '../support/gateway.ts';

const MANIFEST = `version: 1
upstreams: { up: { url: http://10.0.0.1:1 } }
auth:
  tokens: { jwt: { jwks: http://127.0.0.1:9/jwks.json, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [user], message: users only }
rateLimits:
  address: { key: { client: { ipv6Prefix: 56 } }, allow: 30 per 15m, count: failures }
  agent: { key: [{ header: X-Agent }, route], missing: refuse, allow: '\${RATE:-7 per 1s}' }
  tenant: { key: { claim: /tenant }, missing: skip, allow: 600 per 1m, burst: 100, mode: report }
  account: { key: { body: /email }, missing: refuse, allow: 5 per 15m, mode: report }
routes:
  - id: all
    method: POST
    path: /all
    upstream: up
    access: protected
    rateLimits: [account, tenant, agent, address]
    body: { maxBytes: 4KB, schema: { type: object } }
`;

async function explainPost(
  headers: string[],
  claims: CallerClaims | undefined,
  body: object,
  env: Record<string, string> = {},
) {
  const loaded = load({ path: 'gateway.yaml', text: MANIFEST }, worldOf(env));
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
  const bytes = Buffer.from(JSON.stringify(body));
  const typed = ['Content-Type', 'application/json', ...headers];
  return explain(loaded, { method: 'POST', target: '/all', headers: typed, body: bytes }, claims);
}

const AGENT = ['X-Agent', 'a'];
const USER = { role: 'user', tenant: 'acme' };
const EMAIL = { email: 'a@example.com' };

describe('the limits of a request', () => {
  it('are explained where they apply, with their rates and keys', async () => {
    const { steps, outcome } = await explainPost(AGENT, USER, EMAIL);
    expect(outcome).toBe('forwarded');
    expect(steps.map(({ step }) => step)).toEqual(
      'message path route limits token role limits body limits forward response'.split(' '),
    );
    const limits = steps.filter(({ step }) => step === 'limits');
    expect(limits.map(({ verdict, message }) => `${verdict}: ${message}`)).toEqual([
      'passed: counts against agent (7 per 1s by header X-Agent and route), address (30 per 15m by client (IPv6 /56), failures only)',
      'passed: counts against tenant (600 per 1m by claim /tenant, at most 100 at once, only reported)',
      'passed: counts against account (5 per 15m by body /email, only reported)',
    ]);
    expect(limits[0]?.locations.map(({ pointer, line }) => `${pointer} ${line}`)).toEqual([
      '/routes/0/rateLimits 17',
      '/rateLimits/agent 8',
      '/rateLimits/address 7',
    ]);
  });

  it('are skipped or reported if the request lacks the key', async () => {
    const { steps, reported } = await explainPost(AGENT, { role: 'user' }, {});
    expect(reported).toEqual([{ code: 'rate_limit_key_missing', pointers: [], limit: 'account' }]);
    const limits = steps.filter(({ step }) => step === 'limits').slice(1);
    expect(limits.map(({ verdict, message }) => [verdict, message.includes('skipped')])).toEqual([
      ['passed', true],
      ['reported', true],
    ]);
  });

  it('end the explanation if they refuse the request', async () => {
    const { steps, refusal } = await explainPost([], USER, EMAIL);
    expect(refusal).toMatchObject({ status: 400, code: 'rate_limit_key_missing', limit: 'agent' });
    expect(steps.at(-1)).toMatchObject({
      step: 'limits',
      verdict: 'refused',
      message: 'agent: the request lacks a value that this route needs',
    });
  });

  test('never show a rate from the environment', async () => {
    const { steps } = await explainPost(AGENT, USER, EMAIL, { RATE: '987 per 654s' });
    expect(JSON.stringify(steps)).toContain('${RATE}');
    expect(JSON.stringify(steps)).not.toContain('987');
  });
});
