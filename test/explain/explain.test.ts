import { describe, expect, it, test } from 'vitest';
import { formatExplanation } from '../../src/cli/explain/explain-text.ts';
import { load } from '../../src/engine/load.ts';
import type { Explanation } from '../../src/prove/explain/explain-request.ts';
import { explain } from '../../src/prove/explain/explain-request.ts';
import type { CallerClaims } from '../../src/prove/offline/stub-verifier.ts';
import { worldOf } from '../support/gateway.ts';

const MANIFEST = `version: 1
upstreams:
  up: { urls: ['\${FIRST:-http://10.0.0.1:1}', http://10.0.0.2:1] }
cors: { origins: [https://app.example] }
auth:
  tokens: { jwt: { jwks: http://127.0.0.1:9/jwks.json, algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin, user], message: not for you }
routes:
  - { id: all, method: any, path: /files/**, upstream: up, access: public }
  - { id: file, method: GET, path: '/files/{name}', upstream: up, access: public, encodedSlash: keep }
  - { id: secret, method: GET, path: /files/secret, upstream: up, access: protected, roles: [admin] }
  - id: note
    method: POST
    path: /notes/{id}
    upstream: up
    access: protected
    timeout: 5s
    validation: report
    query: { properties: { page: { type: integer } } }
    body: { schema: { type: object, required: [text] } }
    upstreamPath: { replace: /notes, with: /v2 }
    requestHeaders: { set: { X-Key: '\${KEY:-none}' } }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: {} }
  - { id: socket, method: GET, path: /socket, upstream: up, access: public, websocket: true }
  - { id: page, method: GET, path: /page, upstream: up, access: public, websocket: { origins: [https://page.example] } }
`;

async function explainLine(
  line: string,
  claims?: CallerClaims,
  headers: string[] = [],
  env = {},
  text = MANIFEST,
): Promise<Explanation> {
  const loaded = load({ path: 'gateway.yaml', text }, worldOf(env));
  if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
  const [method = '', target = '', body] = line.split(' ');
  return explain(loaded, { method, target, headers, body: body === undefined ? undefined : Buffer.from(body) }, claims);
}

const OWN_ROUTES = `  - { id: moved, method: GET, path: /old/**, access: public, redirect: { to: '/new/{rest}', status: 308 } }
  - { id: ended, method: GET, path: /ended, access: public, respond: { status: 410 } }
`;

const stepsOf = ({ steps }: Explanation) => steps.map(({ step, verdict }) => `${step} ${verdict}`);
const skippedOf = ({ candidates }: Explanation) =>
  candidates.map(({ id, reason, otherRoute }) => `${id} ${reason} ${otherRoute}`);

describe('a response of the gateway itself', () => {
  it.each([
    ['GET /old/a', 'the gateway responds itself: 308 to /new/a', '/routes/7/redirect'],
    ['HEAD /ended', 'the gateway responds itself: 410', '/routes/8/respond'],
  ])('is the last step of %s', async (line, message, pointer) => {
    const explanation = await explainLine(line, undefined, [], {}, MANIFEST + OWN_ROUTES);
    expect(explanation).toMatchObject({ outcome: 'responded', upstream: null, refusal: null });
    expect(explanation.steps.at(-1)).toMatchObject({
      step: 'forward',
      verdict: 'responded',
      message,
      locations: [{ pointer }],
    });
    expect(stepsOf(explanation)).not.toContain('body passed');
  });
});

describe('the logged path', () => {
  test.each([
    ['GET /files/4711', 'keyed'],
    ['POST /files/4711', 'keyed'],
    ['GET /4711/4711', 'keyed'],
    ['GET /files/secret', 'plain'],
    ['POST /notes/4711', 'plain'],
    ['GET /files/../4711', null],
  ])('of %s is %s', async (line, loggedPath) => {
    const explanation = await explainLine(line);
    expect(explanation.loggedPath).toBe(loggedPath);
    if (loggedPath === 'keyed') expect(JSON.stringify(explanation)).toContain('/4711');
    expect(formatExplanation(explanation, false).includes('log         the path has surrogates')).toBe(
      loggedPath === 'keyed',
    );
  });
});

describe('the steps of an explanation', () => {
  test.each<[string, CallerClaims | undefined, string]>([
    ['GET /files/a', undefined, 'message path route token body forward response'],
    ['GET /files/secret', undefined, 'message path route token'],
    ['GET /files/secret', { role: 'user' }, 'message path route token role'],
    ['GET /files/secret', { role: 'admin' }, 'message path route token role body forward response'],
    ['GET /nowhere', undefined, 'message path route'],
    ['GET /files/../x', undefined, 'message path'],
    ['GET nowhere', undefined, 'message'],
    ['OPTIONS *', undefined, 'message preflight'],
  ])('of %s with the claims %j are %s', async (line, claims, steps) => {
    const explanation = await explainLine(line, claims);
    expect(explanation.steps.map(({ step }) => step).join(' ')).toBe(steps);
    const { outcome } = explanation;
    const last = explanation.steps.at(-1)?.verdict;
    expect([outcome, last]).toEqual([outcome, outcome === 'forwarded' ? 'passed' : outcome]);
  });

  it('end with the response to a preflight', async () => {
    const headers = ['Origin', 'https://app.example', 'Access-Control-Request-Method', 'GET'];
    const explanation = await explainLine('OPTIONS /files/a', undefined, headers);
    expect([explanation.outcome, stepsOf(explanation).at(-1)]).toEqual(['responded', 'preflight responded']);
    expect(explanation.steps.at(-1)?.locations).toEqual([{ line: 4, column: 7, pointer: '/cors' }]);
  });

  it.each([
    ['/socket', 'https://app.example', 'origin passed', ['/routes/5/websocket', '/cors/origins']],
    ['/socket', 'https://evil.example', 'origin refused', ['/routes/5/websocket', '/cors/origins']],
    ['/page', 'https://page.example', 'origin passed', ['/routes/6/websocket']],
    ['/page', 'https://app.example', 'origin refused', ['/routes/6/websocket']],
  ])('check the origin of a WebSocket handshake for %s from %s: %s', async (path, origin, step, lines) => {
    const headers = [
      'Upgrade',
      'websocket',
      'Connection',
      'Upgrade',
      'Origin',
      origin,
      'Sec-WebSocket-Key',
      'dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version',
      '13',
    ];
    const explanation = await explainLine(`GET ${path}`, undefined, headers);
    expect(stepsOf(explanation)).toContain(step);
    const pointers = explanation.steps.find(({ step }) => step === 'origin')?.locations.map(({ pointer }) => pointer);
    expect(pointers).toEqual(lines);
    expect(explanation.refusal?.code).toBe(step === 'origin passed' ? undefined : 'origin_not_allowed');
  });

  it('have no origin step for a request that is not a handshake', async () => {
    const plain = await explainLine('GET /socket', undefined, ['Origin', 'https://evil.example']);
    expect(stepsOf(plain).join()).not.toContain('origin');
  });

  it('continue after a violation that the route only reports', async () => {
    const headers = ['Content-Type', 'application/json'];
    const explanation = await explainLine('POST /notes/7?page=x {}', { role: 'user' }, headers);
    expect(stepsOf(explanation)).toEqual(
      expect.arrayContaining(['parameters reported', 'body reported', 'forward passed']),
    );
    expect(explanation.reported).toEqual([
      { code: 'parameter_invalid', pointers: ['/query/page'] },
      { code: 'body_invalid', pointers: ['/text'] },
    ]);
  });

  it('have the locations of the keys that decide them', async () => {
    const { steps } = await explainLine('GET /files/secret', { role: 'user' });
    const lines = steps.map(({ step, locations }) => [
      step,
      ...locations.map(({ line, pointer }) => `${line} ${pointer}`),
    ]);
    expect(lines.slice(2)).toEqual([
      ['route', '11 /routes/2'],
      ['token', '11 /routes/2/access'],
      ['role', '11 /routes/2/roles', '7 /auth/role/claim'],
    ]);
  });
});

describe('the skipped routes of an explanation', () => {
  test.each([
    ['GET /files/a', ['all less-specific file']],
    ['GET /files/secret', ['all less-specific secret', 'file less-specific secret']],
    ['DELETE /files/secret', ['file other-method null', 'secret other-method null']],
    ['GET /files/a%2Fb', ['all encoded-slash null']],
    ['GET /files/Secret', ['all less-specific file', 'file other-reading secret']],
    ['GET /files/x/secret', []],
  ])('of %s are %j', async (line, skipped) => {
    expect(skippedOf(await explainLine(line))).toEqual(skipped);
  });
});

describe('the upstream request of an explanation', () => {
  it('has the rewritten URL, the headers, the endpoints and the time limits', async () => {
    const headers = ['Content-Type', 'application/json'];
    const { route, upstream } = await explainLine('POST /notes/7?page=1 {"text":"x"}', { role: 'user' }, headers);
    expect(route).toMatchObject({ id: 'note', parameters: { id: '7' }, line: 12 });
    expect(upstream).toMatchObject({
      id: 'up',
      method: 'POST',
      url: 'http://10.0.0.1:1/v2/7?page=1',
      endpoints: ['http://10.0.0.1:1', 'http://10.0.0.2:1'],
      bodyBytes: 12,
      timeoutsMs: { connect: 2000, response: null, idle: 60_000, total: 5000 },
    });
    expect(upstream?.headers).toEqual(
      expect.arrayContaining([
        ['Authorization', 'Bearer <token>'],
        ['X-Key', 'none'],
      ]),
    );
  });

  it('has no value from the environment', async () => {
    const env = { FIRST: 'http://10.9.9.9:1', KEY: 'hidden' };
    const explanation = await explainLine(
      'POST /notes/7 {"text":"x"}',
      { role: 'user' },
      ['Content-Type', 'application/json'],
      env,
    );
    expect(JSON.stringify(explanation)).not.toMatch(/10\.9\.9\.9|hidden/);
    expect(explanation.upstream?.url).toBe('${FIRST}/v2/7');
    expect(explanation.upstream?.headers).toContainEqual(['X-Key', '${KEY}']);
  });
});

describe('the refusal of an explanation', () => {
  it('has the detail of the response and the reason of the log', async () => {
    expect((await explainLine('GET /files/secret', { role: 'guest' })).refusal).toEqual({
      status: 403,
      code: 'role_not_allowed',
      reason: 'role_not_allowed',
      detail: 'not for you',
      errors: [],
    });
    expect((await explainLine('GET /files//a')).refusal).toMatchObject({
      code: 'path_ambiguous',
      reason: 'path_empty_segment',
    });
  });

  it('of HEAD has the same members as that of GET', async () => {
    expect((await explainLine('HEAD /nowhere')).refusal).toMatchObject({
      status: 404,
      code: 'route_unknown',
      detail: 'no route has this path',
    });
  });

  it('of an unknown path suggests a similar one', async () => {
    const { steps } = await explainLine('GET /login2');
    expect(steps.at(-1)?.message).toBe('no route has this path; did you mean /login?');
  });

  it.each([
    ['/pagee', ['/page']],
    ['/logon', ['/login']],
    ['/note/7', ['/notes/{id}']],
    ['/notes', ['/notes/{id}']],
    ['/login/7', ['/login']],
    ['/nowhere', []],
    ['/', []],
    ['/login', []],
  ])('of the path %s lists the near routes', async (path, expected) => {
    const { near } = await explainLine(`GET ${path}`);
    expect(near.map((route) => route.path)).toEqual(expected);
  });

  it.each([
    ['get /login', 'the method "get" is unknown; did you mean "GET"?'],
    ['Post /login', 'the method "Post" is unknown; did you mean "POST"?'],
    ['GETT /login', 'the method "GETT" is unknown; did you mean "GET"?'],
    ['GET login?a=1', 'the path does not begin with "/"; write /login?a=1'],
    ['GET login', 'the path does not begin with "/"; write /login'],
  ])('of "%s" suggests the request', async (line, message) => {
    const { steps } = await explainLine(line);
    expect(steps.at(-1)?.message).toContain(message);
  });
});

describe('the invariants of a request', () => {
  const invariants = `invariants:
  - { id: tokens, except: [all, { route: file, reason: moves, until: 2099-01-31 }, login, socket, page], require: { access: protected }, why: files are private }
  - { id: sealed, when: { path: /files/secret, method: GET }, require: { roles: { only: [admin] } } }
  - { id: others, when: { path: /others/** }, require: { served: false } }
routes:
`;

  test.each([
    ['GET /files/a', ['tokens excepts this route: moves  gateway.yaml:9']],
    ['POST /files/a', ['tokens excepts this route: files are private  gateway.yaml:9']],
    ['GET /files/secret', ['tokens: files are private  gateway.yaml:9', 'sealed  gateway.yaml:10']],
    ['GET /nowhere', []],
    ['GET /files/../a', []],
  ])('%s are named with their exceptions', async (line, expected) => {
    const text = MANIFEST.replace('routes:\n', invariants);
    const loaded = load({ path: 'gateway.yaml', text }, worldOf({}));
    if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
    const [method = '', target = ''] = line.split(' ');
    const explanation = await explain(loaded, { method, target, headers: [], body: undefined }, undefined);
    const lines = formatExplanation(explanation, false).split('\n');
    const mark = '• invariant   ';
    expect(lines.filter((one) => one.startsWith(mark)).map((one) => one.slice(mark.length))).toEqual(expected);
  });
});
