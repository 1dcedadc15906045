import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, startGateway } from '../support/gateway.ts';
import { AUDIENCE, ISSUER, type Issuer, startIssuer } from '../support/issuer.ts';
import { ask, head } from '../support/raw.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const seconds = Math.floor(Date.now() / 1000);

/** Tokens by what they are: how a JWT of the kind is made, and what is answered about an opaque one. */
const TOKENS: Readonly<Record<string, { jwt: Record<string, unknown>; answer: unknown }>> = {
  good: { jwt: {}, answer: { company_role: 'user' } },
  'of an admin': { jwt: { company_role: 'admin' }, answer: { company_role: 'admin' } },
  'of another role': { jwt: { company_role: 'auditor' }, answer: { company_role: 'auditor' } },
  'of a role in capitals': { jwt: { company_role: 'ADMIN' }, answer: { company_role: 'ADMIN' } },
  'of a list of roles': { jwt: { company_role: ['admin'] }, answer: { company_role: ['admin'] } },
  'of no role': { jwt: { company_role: undefined }, answer: {} },
  expired: { jwt: { exp: seconds - 60 }, answer: { company_role: 'user', exp: seconds - 60 } },
  'not valid yet': { jwt: { nbf: seconds + 60 }, answer: { company_role: 'user', nbf: seconds + 60 } },
  'of another issuer': {
    jwt: { iss: 'https://evil.test' },
    answer: { company_role: 'user', iss: 'https://evil.test' },
  },
  'for somebody else': { jwt: { aud: 'you' }, answer: { company_role: 'user', aud: 'you' } },
  refused: { jwt: { exp: 1 }, answer: 'refused' },
  'about which nothing is known': { jwt: {}, answer: 'down' },
};

/** The status of a public route, a protected one, and a login that answers with the token. */
type Row = readonly [open: number, closed: number, login: number];
const YES: Row = [200, 200, 200];
const NO: Row = [200, 401, 502];
const ROLE: Row = [200, 403, 403];
const DOWN: Row = [200, 503, 503];

const TABLE: Readonly<Record<string, Readonly<Record<'jwt' | 'introspection' | 'userinfo', Row>>>> = {
  none: { jwt: [200, 401, 200], introspection: [200, 401, 200], userinfo: [200, 401, 200] },
  malformed: { jwt: NO, introspection: NO, userinfo: NO },
  unknown: { jwt: NO, introspection: NO, userinfo: NO },
  forged: { jwt: NO, introspection: NO, userinfo: NO },
  good: { jwt: YES, introspection: YES, userinfo: YES },
  'of an admin': { jwt: YES, introspection: YES, userinfo: YES },
  'of another role': { jwt: ROLE, introspection: ROLE, userinfo: ROLE },
  'of a role in capitals': { jwt: ROLE, introspection: ROLE, userinfo: ROLE },
  'of a list of roles': { jwt: ROLE, introspection: ROLE, userinfo: ROLE },
  'of no role': { jwt: ROLE, introspection: ROLE, userinfo: ROLE },
  expired: { jwt: NO, introspection: NO, userinfo: NO },
  'not valid yet': { jwt: NO, introspection: NO, userinfo: NO },
  // Whoever answers userinfo is the one that is asked, whatever the answer says of others.
  'of another issuer': { jwt: NO, introspection: NO, userinfo: YES },
  'for somebody else': { jwt: NO, introspection: NO, userinfo: YES },
  refused: { jwt: NO, introspection: NO, userinfo: NO },
  // Keys are known from the tokens before: no question is asked.
  'about which nothing is known': { jwt: YES, introspection: DOWN, userinfo: DOWN },
};

const manifest = (tokens: object, up: string, identity: string) => `version: 1
listen: 127.0.0.1:0
upstreams:
  up: { url: '${up}' }
  identity: { url: '${identity}' }
auth:
  tokens: ${JSON.stringify(tokens)}
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
routes:
  - { id: open, method: GET, path: /open, upstream: up, access: public }
  - { id: closed, method: GET, path: /closed, upstream: up, access: protected }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /data/access_token } }
`;

let issuer: Issuer;
let identity: Upstream;
let up: Upstream;
const gateways: Partial<Record<string, Running>> = {};
const tokens: Record<string, { jwt: string; opaque: string }> = {};

beforeAll(async () => {
  issuer = await startIssuer();
  identity = await startUpstream((request, response, body) => {
    const isForm = request.method === 'POST';
    const bearer = request.headers.authorization?.slice('Bearer '.length) ?? '';
    const token = isForm ? (new URLSearchParams(body.toString()).get('token') ?? '') : bearer;
    const kind = Object.keys(tokens).find((name) => tokens[name]?.opaque === token) ?? 'refused';
    const answer = TOKENS[kind]?.answer ?? 'refused';
    response.setHeader('Content-Type', 'application/json');
    if (answer === 'down') return void response.socket?.destroy();
    if (answer === 'refused') response.statusCode = isForm ? 200 : 401;
    const usual = { active: true, iss: ISSUER, aud: AUDIENCE, sub: 'someone' };
    response.end(JSON.stringify(answer === 'refused' ? { active: false } : { ...usual, ...(answer as object) }));
  });
  // A login answers with what it was sent: the token, or none, as a challenge does.
  up = await startUpstream((_request, response, body) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(body.length === 0 ? {} : { data: { access_token: body.toString() } }));
  });
  const usual = { issuer: ISSUER, audience: AUDIENCE };
  const endpoint = (path: string) => ({ upstream: 'identity', path });
  const ways = {
    jwt: { jwks: issuer.jwksUrl, algorithms: ['ES256'], ...usual },
    introspection: { endpoint: endpoint('/introspect'), clientId: 'gateway', clientSecret: '${SECRET}', ...usual },
    userinfo: { endpoint: endpoint('/me') },
  };
  for (const [way, entry] of Object.entries(ways))
    gateways[way] = await startGateway(manifest({ [way]: entry }, up.url, identity.url), { SECRET: 'secret' });
  for (const [kind, { jwt }] of Object.entries(TOKENS))
    tokens[kind] = { jwt: await issuer.token(jwt), opaque: `opaque-${kind.replaceAll(' ', '-')}` };
  const [first = '', second = ''] = (await issuer.token()).split('.');
  tokens['forged'] = { jwt: `${first}.${second}.${'A'.repeat(86)}`, opaque: 'opaque-forged' };
  tokens['unknown'] = { jwt: await issuer.token({}, { kid: 'nobody' }), opaque: 'opaque-unknown' };
  tokens['malformed'] = { jwt: 'a.b', opaque: 'a b' };
});

afterAll(async () => {
  for (const gateway of Object.values(gateways)) await gateway?.close();
  await Promise.all([issuer.close(), identity.close(), up.close()]);
});

describe.each(['jwt', 'introspection', 'userinfo'] as const)('by %s', (way) => {
  it('the table has every kind of token', () => {
    expect(Object.keys(TABLE).sort()).toEqual(['none', ...Object.keys(tokens)].sort());
  });

  it.each(Object.keys(TABLE))('a token that is %s', async (kind) => {
    const token = kind === 'none' ? '' : (tokens[kind]?.[way === 'jwt' ? 'jwt' : 'opaque'] ?? '');
    const credentials = token === '' ? [] : [`Authorization: Bearer ${token}`];
    const status = async (line: string, headers: string[], body = '') =>
      (await ask(gateways[way]?.port ?? 0, head(`${line} HTTP/1.1`, ...headers) + body)).status;
    up.requests.length = 0;
    const statuses = [
      await status('GET /open', credentials),
      await status('GET /closed', credentials),
      await status('POST /login', [`Content-Length: ${token.length}`], token),
    ];
    expect(statuses).toEqual(TABLE[kind]?.[way]);
    const reached = up.requests.map(({ url }) => url);
    expect(reached.includes('/closed')).toBe(TABLE[kind]?.[way][1] === 200);
  });

  it('the issuer is asked once by many requests at once, and no token or secret is in the log', async () => {
    const gateway = gateways[way];
    identity.requests.length = 0;
    const token = way === 'jwt' ? await issuer.token({ sub: 'many' }) : 'opaque-good';
    const line = head('GET /closed HTTP/1.1', `Authorization: Bearer ${token}`);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(gateway?.port ?? 0, line)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(identity.requests.length).toBeLessThanOrEqual(1);
    const log = JSON.stringify(gateway?.lines);
    for (const { jwt, opaque } of Object.values(tokens)) {
      if (jwt.length > 10) expect(log).not.toContain(jwt);
      if (opaque.length > 10) expect(log).not.toContain(opaque);
    }
  });
});

it.each(['introspection', 'userinfo'])('why nobody answered by %s stands in the log', async (way) => {
  const token = tokens['about which nothing is known']?.opaque;
  await ask(gateways[way]?.port ?? 0, head('GET /closed HTTP/1.1', `Authorization: Bearer ${token}`));
  expect(gateways[way]?.lines.at(-1)).toMatchObject({ refusal: 'keys_unavailable', reason: 'connection_closed' });
});
