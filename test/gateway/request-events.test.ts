import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DNS_ERROR_CODES } from '../../src/engine/dns/resolution-status.ts';
import { createGateway, type Gateway } from '../../src/engine/gateway/gateway.ts';
import { TOKEN_ERRORS } from '../../src/engine/gateway/response/refusal.ts';
import { HTTP1_ERROR_CODES } from '../../src/engine/http1/http1-error.ts';
import { load } from '../../src/engine/load.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import type { MethodVerifier, Principal } from '../../src/engine/tokens/verifier.ts';
import { manifest, worldOf } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { exchangeBytes, head, keepAliveHead, sendRequest, Wire } from '../support/raw.ts';
import { expectSection } from '../support/section.ts';
import { eventually, RESPOND_OK } from '../support/site.ts';
import { type Respond, startUpstream, type Upstream } from '../support/upstream.ts';

const ROUTES = `  - { id: open, method: any, path: /open/**, upstream: up, access: public }
  - { id: contacts, method: any, path: /contacts, upstream: up, access: protected }
  - { id: settings, method: any, path: /settings, upstream: up, access: protected, roles: [admin] }
  - { id: strict, method: POST, path: /strict, upstream: up, access: protected, body: { schema: { type: object } } }
  - { id: login, method: POST, path: /login, upstream: up, access: public, login: { token: /token } }
  - { id: renew, method: POST, path: /renew, upstream: up, access: protected, login: { token: /token } }
`;
const ANN = 'ann@example.test';
const BOB = 'bob@example.test';

let issuer: Issuer;
let upstream: Upstream;
let respond: Respond = RESPOND_OK;
let gateway: Gateway;
let port: number;
const raw: string[] = [];

/** Returns the value that identifies a subject in the log. */
const hashOf = (subject: string) => createHash('sha256').update(subject).digest('hex').slice(0, 16);

beforeAll(async () => {
  issuer = await startIssuer();
  upstream = await startUpstream((...all) => respond(...all));
  gateway = createGateway(planWithSubjects(), {
    logger: pino({ level: 'silent' }),
    writeLine: (json) => void raw.push(json),
    flush: () => undefined,
  });
  port = (await gateway.listen()).port;
});
afterAll(async () => {
  await gateway.close(0);
  await upstream.close();
  await issuer.close();
});
beforeEach(() => {
  respond = RESPOND_OK;
  raw.length = 0;
});

/** Returns a plan whose verifier reports predictable subjects. The plan takes it over from the previous plan. */
function planWithSubjects(): Plan {
  const text = manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl, timeouts: '{ response: 1s }' });
  const source = { path: 'gateway.yaml', text };
  const first = load(source, worldOf()).plan;
  const verifier = first?.auth?.verifier.methods[0];
  if (first?.auth === undefined || verifier === undefined) throw new Error('the manifest does not load');
  const stub: MethodVerifier = {
    ...verifier,
    get methods() {
      return [stub];
    },
    cached: (token) => withSubject(verifier.cached(token)),
    verify: async (token) => {
      const result = await verifier.verify(token);
      return 'code' in result ? result : { principal: withSubject(result.principal) };
    },
  };
  const { plan } = load(source, worldOf(), { ...first, auth: { ...first.auth, verifier: stub } });
  if (plan?.auth?.verifier !== stub) throw new Error('the plan did not take over the verifier');
  return plan;
}

function withSubject<P extends Principal | undefined>(principal: P): P {
  return principal && { ...principal, subject: hashOf(String(principal.claims['sub'])) };
}

const bearer = async (claims: Record<string, unknown> = {}) =>
  `Authorization: Bearer ${await issuer.token({ sub: ANN, ...claims })}`;

async function lineOf(bytes: string | Buffer) {
  const response = await sendRequest(port, bytes);
  await eventually('the line', () => raw.length > 0);
  return { response, line: JSON.parse(raw.at(-1) ?? '') };
}

describe('the access log line of a refusal', () => {
  it.each([
    ['missing', () => [], { refusal: 'token_missing', reason: 'token_missing', status: 401 }],
    ['not valid', () => ['Authorization: Bearer x'], { refusal: 'token_invalid', reason: 'token_malformed' }],
  ])('because the token is %s has the required roles', async (_case, headers, members) => {
    const { line } = await lineOf(head('GET /settings HTTP/1.1', ...headers()));
    expect(line).toMatchObject({ route: 'settings', decision: 'refused', required: ['admin'], ...members });
    expect(line).not.toHaveProperty('subject');
  });

  it.each<[string, Record<string, unknown>]>([
    ['token_expired', { exp: 1 }],
    ['audience_wrong', { aud: 'elsewhere' }],
    ['issuer_wrong', { iss: 'somebody' }],
    ['token_not_yet_valid', { nbf: 9_999_999_999 }],
  ])('because of a token has the reason, and the response does not: %s', async (reason, claims) => {
    const { response, line } = await lineOf(head('GET /contacts HTTP/1.1', await bearer(claims)));
    expect(line).toMatchObject({ status: 401, refusal: 'token_invalid', reason, required: ['admin', 'user'] });
    expect(line).not.toHaveProperty('subject');
    expect([response.line, ...response.headers.flat(), response.body].join('\n')).not.toContain(reason);
  });

  it('because of a role has the subject and the required roles, and the response does not', async () => {
    const { response, line } = await lineOf(head('GET /settings HTTP/1.1', await bearer({ company_role: 'user' })));
    expect(line).toMatchObject({
      route: 'settings',
      status: 403,
      subject: hashOf(ANN),
      decision: 'refused',
      refusal: 'role_not_allowed',
      reason: 'role_not_allowed',
      required: ['admin'],
    });
    expect(response.json().message).toBe('admins and users only');
    // The message of the manifest contains the word "admins".
    expect(JSON.stringify(response.json()).replaceAll('admins', '')).not.toContain('admin');
    expect(response.headers.flat().join('\n')).not.toContain('admin');
  });

  it('because of a body has the subject of the caller', async () => {
    const { line } = await lineOf(head('POST /strict HTTP/1.1', 'Content-Length: 0', await bearer()));
    expect(line).toMatchObject({ status: 415, subject: hashOf(ANN), decision: 'refused', required: ['admin', 'user'] });
  });

  it('without an authorization check has no required roles', async () => {
    for (const line of ['GET /nowhere HTTP/1.1', 'PUT /login HTTP/1.1', 'GET /open/../x HTTP/1.1']) {
      const { line: entry } = await lineOf(head(line));
      expect(entry).toHaveProperty('decision', 'refused');
      expect(entry).not.toHaveProperty('required');
    }
  });

  it('is also written for bytes that are not a request', async () => {
    await exchangeBytes(port, 'nonsense\r\n\r\n');
    await eventually('the line', () => raw.length > 0);
    expect(JSON.parse(raw[0] ?? '')).toMatchObject({ decision: 'refused', refusal: 'message_malformed', status: 400 });
  });
});

describe('the access log line of a response that was not refused', () => {
  it('has no decision, and the subject of its caller', async () => {
    const token = await bearer();
    // The token is verified in the first round and cached in the second.
    for (let round = 0; round < 2; round += 1) {
      const { line } = await lineOf(head('GET /contacts HTTP/1.1', token));
      expect(line).toMatchObject({ status: 200, subject: hashOf(ANN) });
      for (const member of ['decision', 'refusal', 'reason', 'required']) expect(line).not.toHaveProperty(member);
    }
  });

  it('of a public route has no subject, since tokens are ignored', async () => {
    expect((await lineOf(head('GET /open/x HTTP/1.1', await bearer()))).line).not.toHaveProperty('subject');
  });
});

describe('the access log line of a login', () => {
  const respondWithToken = async (claims: Record<string, unknown>) => {
    const token = await issuer.token({ sub: BOB, ...claims });
    respond = (_request, response) => void response.end(JSON.stringify({ token }));
  };

  it('has the subject of the token in the response', async () => {
    await respondWithToken({});
    expect((await lineOf(head('POST /login HTTP/1.1'))).line).toMatchObject({ status: 200, subject: hashOf(BOB) });
    await respondWithToken({ company_role: 'viewer' });
    const { line } = await lineOf(head('POST /login HTTP/1.1'));
    expect(line).toMatchObject({
      status: 403,
      subject: hashOf(BOB),
      refusal: 'role_not_allowed',
      required: ['admin', 'user'],
    });
    const renewed = await lineOf(head('POST /renew HTTP/1.1', await bearer()));
    expect(renewed.line).toMatchObject({ status: 403, subject: hashOf(BOB) });
  });

  it('has no subject if the token is not valid', async () => {
    await respondWithToken({ exp: 1 });
    const { line } = await lineOf(head('POST /login HTTP/1.1'));
    expect(line).toMatchObject({ status: 502, refusal: 'login_response_refused', reason: 'login_token_expired' });
    expect(line).not.toHaveProperty('subject');
    const renewed = await lineOf(head('POST /renew HTTP/1.1', await bearer()));
    expect(renewed.line).toMatchObject({ status: 502, subject: hashOf(ANN) });
  });
});

it('the access log never has a claim or a token', async () => {
  const claims = { sub: 'SENTINEL-sub', company_role: 'SENTINEL-role', email: 'SENTINEL-mail', jti: 'SENTINEL-jti' };
  const token = await issuer.token(claims);
  respond = (_request, response) => void response.end(JSON.stringify({ token }));
  for (const path of ['/contacts', '/settings', '/open/x', '/strict'])
    await sendRequest(port, head(`POST ${path} HTTP/1.1`, `Authorization: Bearer ${token}`));
  await sendRequest(port, head('POST /login HTTP/1.1'));
  await eventually('the lines', () => raw.length === 5);
  const all = raw.join('\n');
  for (const secret of ['SENTINEL', ...token.split('.')]) expect(all).not.toContain(secret);
  expect(all).toContain(hashOf('SENTINEL-sub'));
});

describe('docs/log.md', () => {
  const page = readFileSync(new URL('../../docs/log.md', import.meta.url), 'utf8');
  const members = [...(page.split(/<!-- \/?members -->/)[1] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(
    ([, name]) => name,
  );

  it('lists every member of a line, in the same order', async () => {
    await sendRequest(port, head('GET /contacts HTTP/1.1', await bearer()));
    await sendRequest(port, head('GET /settings HTTP/1.1', await bearer({ company_role: 'user' })));
    await exchangeBytes(port, 'nonsense\r\n\r\n');
    respond = (request) => void request.socket.destroy();
    await sendRequest(port, head('GET /contacts HTTP/1.1', await bearer()));
    respond = (_request, response) => void response.writeHead(200).write('half', () => response.destroy());
    const wire = await Wire.open(port);
    wire.write(keepAliveHead('GET /open/x HTTP/1.1'));
    await wire.closed();
    await eventually('the lines', () => raw.length === 5);
    const lines = raw.map((line) => Object.keys(JSON.parse(line)));
    const source = readFileSync(
      new URL('../../src/engine/gateway/telemetry/request-recorder.ts', import.meta.url),
      'utf8',
    );
    const sourceMembers = [...source.matchAll(/[{,]"(\w+)":/g)].map(([, name]) => name);
    expect([...new Set(sourceMembers)].sort()).toEqual(members.toSorted());
    expect(lines.flat().filter((name) => !members.includes(name))).toEqual([]);
    for (const line of lines) expect(line).toEqual(members.filter((name) => line.includes(name ?? '')));
  });

  it('shows an example line', async () => {
    const { line } = await lineOf(head('GET /settings HTTP/1.1', await bearer({ company_role: 'user' })));
    const example = {
      time: 1_767_225_600_000,
      id: '8f14e45f-ceea-467f-9575-7c3a1f2d9b10',
      subject: '5f0c1e7a94b2d386',
      trace: '8f14e45fceea467f95757c3a1f2d9b10',
      ms: 0.412,
    };
    for (const name of Object.keys(example)) expect(line).toHaveProperty(name);
    expectSection('docs/log.md', 'example', `\`\`\`json\n${JSON.stringify({ ...line, ...example })}\n\`\`\`\n`);
  });

  it('lists the reasons why a token is not accepted', () => {
    const codes = TOKEN_ERRORS.filter((name) => name !== 'keys_unavailable');
    expect(codes.length).toBeGreaterThan(5);
    expectSection('docs/log.md', 'token-reasons', `${codes.map((name) => `\`${name}\``).join(', ')}.\n`);
  });

  it('lists the reasons why an upstream connection fails', () => {
    const rows = Object.entries(HTTP1_ERROR_CODES).map(([code, text]) => `- \`upstream_${code}\`: ${text}\n`);
    expectSection('docs/log.md', 'upstream-reasons', rows.join(''));
    const names = Object.entries(DNS_ERROR_CODES).map(
      ([code, text]) => `- \`upstream_${code.toLowerCase()}\`: ${text}\n`,
    );
    expectSection('docs/log.md', 'name-reasons', names.join(''));
  });
});
