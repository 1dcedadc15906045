import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../support/gateway.ts';
import { type Issuer, startIssuer } from '../support/issuer.ts';
import { chunked, head, sendRequest } from '../support/raw.ts';
import { startWireUpstream, type WireUpstream } from '../support/upstream.ts';

const FORWARD = `{ X-User-Id: /sub, X-Shop: { claim: /shop/id, missing: omit }, X-Groups: { claim: /groups, missing: omit } }`;
const ROUTES = `
  - { id: mine, method: any, path: /mine, upstream: up, access: protected, websocket: true }
  - { id: more, method: GET, path: /more, upstream: up, access: protected, forward: { X-Mail: /email, X-Shop: false, X-Other: false } }
  - { id: none, method: GET, path: /none, upstream: up, access: protected, forward: false }
  - { id: open, method: any, path: /open, upstream: up, access: public, websocket: true }
`;
const HANDSHAKE = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
const ALIASES =
  'X-User-Id x-user-id X_User_Id X.User.Id x_USER-id X-User_Id X!User#Id X~User|Id X-Shop X_SHOP X-Mail x.mail X-Groups'.split(
    ' ',
  );

let upstream: WireUpstream;
let issuer: Issuer;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startWireUpstream(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  issuer = await startIssuer();
  const text = manifest(ROUTES, { up: upstream.url, jwks: issuer.jwksUrl });
  gateway = await startGateway(text.replace('auth:', `auth:\n  forward: ${FORWARD}`));
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
  await issuer.close();
});

/** Sends a request and returns the headers with one of the names, in any spelling, that the upstream received. */
async function forwarded(bytes: string): Promise<string[]> {
  const before = upstream.messages.length;
  const { status, ...response } = await sendRequest(gateway.port, bytes);
  const message = upstream.messages[before];
  if (message === undefined) return [`${status} ${response.json().code}`];
  const isOurs = (name: string) => /^x.(?:user.id|shop|mail|groups|other)$/i.test(name);
  return message.headers.flatMap(([name, value]) => (isOurs(name) ? `${name}: ${value}` : []));
}

async function callerOf(claims: Record<string, unknown>): Promise<string> {
  return `Authorization: Bearer ${await issuer.token(claims)}`;
}

describe('forwarded claims', () => {
  it('are headers of protected routes, and a route adds some or turns them off', async () => {
    const caller = await callerOf({ sub: 'ann', shop: { id: 7 }, groups: ['a', 'b'], email: 'ann@example.org' });
    const get = (path: string) => forwarded(head(`GET ${path} HTTP/1.1`, caller));
    expect(await get('/mine')).toEqual(['X-User-Id: ann', 'X-Shop: 7', 'X-Groups: a,b']);
    // The lines of the cached token.
    expect(await get('/mine')).toEqual(['X-User-Id: ann', 'X-Shop: 7', 'X-Groups: a,b']);
    expect(await get('/more')).toEqual(['X-User-Id: ann', 'X-Groups: a,b', 'X-Mail: ann@example.org']);
    expect(await get('/none')).toEqual([]);
    expect(await get('/open')).toEqual([]);
  });

  it('leave a header to clients that no route sets', async () => {
    expect(await forwarded(head('GET /open HTTP/1.1', 'X-Other: mine'))).toEqual(['X-Other: mine']);
  });

  it('replace the headers of clients in every spelling, on public routes too', async () => {
    const caller = await callerOf({ sub: 'ann' });
    const forged = ALIASES.map((name) => `${name}: evil`);
    const connection = `Connection: close, X-User-Id, X_User_Id, X-Shop`;
    const lines = [
      ...['GET', 'POST', 'DELETE'].map((method) => [method, 'HTTP/1.1', forged]),
      ['GET', 'HTTP/1.0', forged],
      ['GET', 'HTTP/1.1', [...forged, connection]],
      ['GET', 'HTTP/1.1', [...forged, 'Connection: Upgrade, X-User-Id', ...HANDSHAKE]],
    ] as const;
    for (const [method, version, headers] of lines) {
      const send = (path: string, ...more: string[]) =>
        forwarded(head(`${method} ${path} ${version}`, ...(headers as string[]), ...more));
      expect([method, version, await send('/open')]).toEqual([method, version, []]);
      expect([method, version, await send('/mine', caller)]).toEqual([method, version, ['X-User-Id: ann']]);
    }
  });

  it('are no trailers of clients', async () => {
    const before = upstream.messages.length;
    const trailers = ALIASES.map((name) => `${name}: evil\r\n`).join('');
    const body = `${chunked('x').replace(/\r\n$/, '')}${trailers}\r\n`;
    await sendRequest(
      gateway.port,
      `${head('POST /open HTTP/1.1', 'Transfer-Encoding: chunked', 'Trailer: X-User-Id')}${body}`,
    );
    const sent = upstream.messages.slice(before).map((message) => JSON.stringify(message));
    expect(sent.join()).not.toContain('evil');
  });

  it.each([
    ['text', 'a, b; "c" d', 'a, b; "c" d'],
    ['a percent sign', '50%', '50%25'],
    ['other scripts', 'Zoë 漢🙂', 'Zo%C3%AB %E6%BC%A2%F0%9F%99%82'],
    ['spaces at the ends', '  a b ', '%20%20a b%20'],
    ['a number', 12.5, '12.5'],
    ['zero', 0, '0'],
    ['false', false, 'false'],
    ['a list', ['a', 2, true], 'a,2,true'],
    ['the longest text', 'x'.repeat(1_024), 'x'.repeat(1_024)],
  ])('have the value of %s', async (_kind, sub, value) => {
    expect(await forwarded(head('GET /mine HTTP/1.1', await callerOf({ sub })))).toEqual([`X-User-Id: ${value}`]);
  });

  it.each([
    ['no claim', undefined],
    ['null', null],
    ['an empty text', ''],
    ['an empty list', []],
    ['a line break', 'ann\r\nX-Admin: 1'],
    ['a line feed', 'ann\nb'],
    ['NUL', 'ann\0'],
    ['a tab', 'a\tb'],
    ['DEL', 'a\x7f'],
    ['a C1 control character', 'a\x85b'],
    ['a map', { id: 'ann' }],
    ['a nested list', [['ann']]],
    ['a list with a comma', ['ann,admin']],
    ['a list with a blank', ['ann admin']],
    ['a list with null', ['ann', null]],
    ['a list with an empty text', ['ann', '']],
    ['a list of other scripts', ['Zoë']],
    ['a number that has lost digits', 2 ** 53],
    ['a long text', 'x'.repeat(1_025)],
    ['a text that is too long when it is encoded', '%'.repeat(400)],
    ['a long list', Array.from({ length: 600 }, () => 'ab')],
  ])('refuse a caller with %s', async (_kind, sub) => {
    const caller = await callerOf({ sub });
    for (const headers of [[caller], [caller, 'X-User-Id: evil']])
      expect(await forwarded(head('GET /mine HTTP/1.1', ...headers))).toEqual(['403 claim_unusable']);
    expect(gateway.lines.at(-1)).toMatchObject({
      refusal: 'claim_unusable',
      reason: expect.stringMatching(/^claim_[a-z_]+ \(X-User-Id\)$/),
    });
    // A refused caller may use a route that does not forward the claim.
    expect(await forwarded(head('GET /none HTTP/1.1', caller))).toEqual([]);
  });

  it('that may be missing are left out, but an unusable one is refused', async () => {
    for (const shop of [undefined, null, {}, { id: null }, { id: '' }, 'text'])
      expect(await forwarded(head('GET /mine HTTP/1.1', await callerOf({ sub: 'ann', shop })))).toEqual([
        'X-User-Id: ann',
      ]);
    const caller = await callerOf({ sub: 'ann', shop: { id: 'a\nb' } });
    expect(await forwarded(head('GET /mine HTTP/1.1', caller))).toEqual(['403 claim_unusable']);
    expect(gateway.lines.at(-1)).toMatchObject({ reason: 'claim_not_text (X-Shop)' });
  });

  it('are those of the new manifest after a reload', async () => {
    const caller = await callerOf({ sub: 'ann', name: 'Ann' });
    expect(await forwarded(head('GET /none HTTP/1.1', caller))).toEqual([]);
    const text = manifest(ROUTES.replace('forward: false', 'forward: { X-Mail: /name }'), {
      up: upstream.url,
      jwks: issuer.jwksUrl,
    });
    gateway.swap(text.replace('auth:', `auth:\n  forward: ${FORWARD}`));
    expect(await forwarded(head('GET /none HTTP/1.1', caller))).toEqual(['X-User-Id: ann', 'X-Mail: Ann']);
  });
});
