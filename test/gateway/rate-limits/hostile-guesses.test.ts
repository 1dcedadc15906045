import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { manifest, startGateway, type TestGateway } from '../../support/gateway.ts';
import { chunked, exchangeBytes, keepAliveHead, openSocket, sendRequest, Wire } from '../../support/raw.ts';
import { eventually } from '../../support/site.ts';
import { startWireUpstream, type WireResponse, type WireUpstream } from '../../support/upstream.ts';

const ALLOWED = 5;
const GUESSES = 12;
const WRONG = 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n';
const OTHER_TOKEN = 'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"access_token":"x"}';

let upstream: WireUpstream | undefined;
let gateway: TestGateway | undefined;

afterEach(async () => {
  await gateway?.close();
  await upstream?.close();
});

/** Starts a gateway that allows 5 wrong passwords for each account. `login` has more keys of the route. */
async function start(
  respond: () => WireResponse,
  login = '',
  timeouts = '{}',
  upstreamKeys = '',
  fold = 'text',
): Promise<void> {
  upstream = await startWireUpstream(respond);
  const routes = `  - id: login
    method: POST
    path: /login
    upstream: up
    access: public
    rateLimits: [account]
    body:
      maxBytes: 4KB
      schema: { type: object, required: [email], properties: { email: { type: string } } }
    ${login}
rateLimits:
  account: { key: { body: /email, fold: ${fold} }, missing: refuse, allow: ${ALLOWED} per 15m, count: failures }
`;
  const text = manifest(routes, { up: upstream.url, timeouts }).replace('timeouts:', `${upstreamKeys} timeouts:`);
  gateway = await startGateway(text);
}

const portOf = () => gateway?.port ?? 0;
const received = () => upstream?.messages.length ?? 0;
const PASSWORDS = Array.from({ length: GUESSES }, (_, index) => `secret-${index}`);
const jsonOf = (password: string) => JSON.stringify({ email: 'user@example.com', password });

function guess(password: string, body = jsonOf(password), version = '1.1', ...headers: string[]): string {
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return keepAliveHead(`POST /login HTTP/${version}`, 'Content-Type: application/json', length, ...headers) + body;
}

/** Sends a guess on a new connection. Returns the status of the response, or 0 without one. */
async function send(bytes: string): Promise<number> {
  return (await sendRequest(portOf(), bytes).catch(() => undefined))?.status ?? 0;
}

async function sendOneByOne(bytes: (password: string) => string): Promise<number[]> {
  const statuses: number[] = [];
  for (const password of PASSWORDS) statuses.push(await send(bytes(password)));
  return statuses;
}

async function writeSlowly(socket: Socket, text: string): Promise<void> {
  for (const byte of text) {
    socket.write(byte);
    await new Promise(setImmediate);
  }
}

/** Sends all guesses in one form. */
const FORMS: Readonly<Record<string, () => Promise<unknown>>> = {
  'pipelined on one connection': async () => {
    const wire = await Wire.open(portOf());
    wire.write(PASSWORDS.map((password) => guess(password)).join(''));
    for (const _ of PASSWORDS) await wire.response('POST');
    wire.end();
  },
  'on parallel connections': () => Promise.all(PASSWORDS.map((password) => send(guess(password)))),
  'in HTTP/1.0': () => sendOneByOne((password) => guess(password, jsonOf(password), '1.0')),
  'in chunks': () => {
    const first = keepAliveHead('POST /login HTTP/1.1', 'Content-Type: application/json', 'Transfer-Encoding: chunked');
    return sendOneByOne((password) => first + chunked(jsonOf(password).slice(0, 9), jsonOf(password).slice(9)));
  },
  'with Expect: 100-continue': () =>
    sendOneByOne((password) => guess(password, jsonOf(password), '1.1', 'Expect: 100-continue')),
  'byte by byte, all at once': () =>
    Promise.all(
      PASSWORDS.map(async (password) => {
        const wire = await Wire.open(portOf());
        await writeSlowly(wire.socket, guess(password));
        await wire.response('POST');
        wire.end();
      }),
    ),
  'with half-closed connections': () =>
    Promise.all(
      PASSWORDS.map(async (password) => {
        const socket = await openSocket(portOf());
        socket.end(guess(password));
        await once(socket.resume(), 'close');
      }),
    ),
  'with other spellings of the account': () => {
    const spellings = ['user@example.com', 'USER@example.com', ' user@example.com\\t', 'us\\u0065r@example.com'];
    const email = (password: string) => spellings[Number(password.at(-1)) % spellings.length];
    return sendOneByOne((password) => guess(password, `{"email":"${email(password)}","password":"${password}"}`));
  },
  'with other members, order and spaces': () =>
    sendOneByOne((password) => guess(password, `{ "${password}": [{"email":"x"}],\n "email" : "user@example.com" }`)),
  'with headers that ask for another response': () =>
    sendOneByOne((password) =>
      guess(
        password,
        jsonOf(password),
        '1.1',
        'Range: bytes=0-0',
        'If-None-Match: *',
        'Accept-Encoding: br;q=0, *;q=0',
        'X-HTTP-Method-Override: GET',
        `X-Forwarded-For: 192.0.2.${password.length}`,
        'Connection: X-Forwarded-For',
      ),
    ),
  'as an upgrade': () =>
    sendOneByOne((password) => guess(password, jsonOf(password), '1.1', 'Connection: Upgrade', 'Upgrade: websocket')),
};

describe('guesses for one account', () => {
  it.each(Object.entries(FORMS))('%s: at most 5 reach the upstream', async (_form, sendAll) => {
    await start(() => WRONG);
    await sendAll();
    expect(await send(guess('more'))).toBe(429);
    expect(received()).toBe(ALLOWED);
  });

  it('count if the client leaves before the response', async () => {
    await start(() => () => undefined);
    for (let index = 0; index < GUESSES; index += 1) {
      const socket = await openSocket(portOf());
      const lines = gateway?.lines.length ?? 0;
      socket.write(guess(`secret-${index}`));
      if (index < ALLOWED) await eventually('the guess is sent', () => received() === index + 1);
      else await once(socket, 'data');
      socket.destroy();
      await eventually('the exchange ends', () => (gateway?.lines.length ?? 0) > lines);
    }
    expect(received()).toBe(ALLOWED);
    expect(await send(guess('more'))).toBe(429);
  });

  it('are taken back if the client leaves before the request is sent', async () => {
    await start(() => WRONG);
    for (let index = 0; index < GUESSES; index += 1) {
      const socket = await openSocket(portOf());
      const lines = gateway?.lines.length ?? 0;
      socket.write(guess('secret').slice(0, -3));
      await new Promise(setImmediate);
      socket.destroy();
      if (index > 0) await eventually('the exchange ends', () => (gateway?.lines.length ?? 0) >= lines);
    }
    expect(await sendOneByOne(guess)).toEqual([401, 401, 401, 401, 401, ...Array(GUESSES - ALLOWED).fill(429)]);
  });
});

/** Responses of an upstream that has read the guess. The client may have learned the result from any of them. */
const FAILED_RESPONSES: Readonly<Record<string, WireResponse>> = {
  'a reset without a byte': (socket) => socket.resetAndDestroy(),
  'an end after half a head': (socket) => socket.end('HTTP/1.1 401 Unauth'),
  garbage: 'no response\r\n\r\n',
  'an interim response, then an end': (socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'),
  'an interim response, then a failure': `HTTP/1.1 103 Early Hints\r\n\r\n${WRONG}`,
  'an upgrade that nobody asked for': (socket) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  'a failure, then a reset': (socket) => {
    socket.write('HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\nno', () => socket.resetAndDestroy());
  },
  'no response in time': () => undefined,
};

describe('a guess that the upstream has read', () => {
  it.each(Object.entries(FAILED_RESPONSES))('counts after %s', async (_name, response) => {
    await start(() => response, '', '{ response: 60ms }', 'retry: false,');
    await sendOneByOne(guess);
    expect(received()).toBe(ALLOWED);
  });

  it.each([
    ['a token without the role', OTHER_TOKEN],
    [
      'an encoding that the gateway cannot read',
      'HTTP/1.1 200 OK\r\nContent-Encoding: x\r\nContent-Length: 2\r\n\r\n{}',
    ],
    ['a part of the content', 'HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\n{}'],
    ['a broken body', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{'],
  ])('counts if the login response is refused: %s', async (_name, response) => {
    await start(() => response, 'login: { token: /access_token }');
    const statuses = await sendOneByOne(guess);
    expect(statuses.filter((status) => status === 200 || status === 206)).toEqual([]);
    expect(received()).toBe(ALLOWED);
  });
});

describe('a request without a guess', () => {
  it('is not counted while the upstream refuses connections', async () => {
    await start(() => WRONG);
    const url = upstream?.url ?? '';
    await upstream?.close();
    expect(new Set(await sendOneByOne(guess))).toEqual(new Set([502]));
    upstream = await startWireUpstream(() => WRONG, Number(new URL(url).port));
    await sendOneByOne(guess);
    expect(received()).toBe(ALLOWED);
  });

  it('is not counted if the queue of the upstream is full', async () => {
    const held: Socket[] = [];
    await start(() => (socket) => void held.push(socket), '', '{}', 'connections: { limit: 1, queue: 1 },');
    const first = send(guess('first'));
    await eventually('the first guess is sent', () => held.length === 1);
    const second = send(guess('second'));
    await eventually('the second guess waits', () => gateway?.gateway.upstreams[0]?.waiting === 1);
    expect(new Set(await sendOneByOne(guess))).toEqual(new Set([503]));
    held[0]?.write(WRONG);
    expect(await first).toBe(401);
    await eventually('the second guess is sent', () => held.length === 2);
    held[1]?.write(WRONG);
    expect(await second).toBe(401);
    expect(gateway?.gateway.rateLimiter.counts.get('account')).toMatchObject({ allowed: 14, released: 12, refused: 0 });
  });

  it('is not counted while the circuit breaker is open', async () => {
    const breaker = 'breaker: { failures: 1, pause: 60s }, retry: false,';
    await start(() => (socket) => socket.resetAndDestroy(), '', '{}', breaker);
    expect(await sendOneByOne(guess)).toEqual([502, ...Array(GUESSES - 1).fill(503)]);
    expect(gateway?.gateway.rateLimiter.counts.get('account')).toMatchObject({ allowed: 12, released: 11, refused: 0 });
  });

  it('is not counted if its body violates the schema', async () => {
    await start(() => WRONG);
    for (const body of [
      '{"email":7}',
      '{"email":"user@example.com",}',
      '{"email":"user@example.com","email":"x"}',
      '{}',
    ])
      for (let index = 0; index < 4; index += 1) expect(await send(guess('', body))).toBe(400);
    await sendOneByOne(guess);
    expect(received()).toBe(ALLOWED);
  });

  it('is not counted as a preflight', async () => {
    await start(() => WRONG);
    const preflight = keepAliveHead(
      'OPTIONS /login HTTP/1.1',
      'Origin: https://app.test',
      'Access-Control-Request-Method: POST',
    );
    for (let index = 0; index < GUESSES; index += 1) expect(await send(preflight)).toBe(405);
    await sendOneByOne(guess);
    expect(received()).toBe(ALLOWED);
  });
});

describe('validation: report', () => {
  it.each([
    ['no JSON', 'email=user@example.com'],
    ['an empty body', ''],
    ['a comma too much', '{"email":"user@example.com",}'],
    ['two members of one name', '{"email":"user@example.com","email":"user@example.com"}'],
    ['an array', '[{"email":"user@example.com"}]', 'body_invalid'],
    ['null', '{"email":null}'],
    ['a prototype', '{"__proto__":{"email":"user@example.com"}}'],
    ['a byte order mark', '\ufeff{"email":"user@example.com"}'],
  ])('refuses a body without the key: %s', async (_name, body, code = 'rate_limit_key_missing') => {
    await start(() => WRONG, 'validation: report');
    const response = await sendRequest(portOf(), guess('', body));
    expect([response.status, response.json().code]).toEqual([400, code]);
    expect(received()).toBe(0);
  });

  it.each(['text/plain', 'application/json; charset=utf-16', 'multipart/form-data; boundary=x', ''])(
    'refuses a body of type %j',
    async (type) => {
      await start(() => WRONG, 'validation: report');
      const bytes = guess('').replace('Content-Type: application/json', `Content-Type: ${type}`);
      expect(await send(bytes)).toBe(400);
      expect(await send(guess('', jsonOf(''), '1.1', 'Content-Encoding: gzip'))).toBe(400);
      expect(received()).toBe(0);
    },
  );

  it('counts a number, however it is written, with its text', async () => {
    await start(() => WRONG, 'validation: report');
    for (const number of ['7', '7.0', '"7"', '70e-1', '0.7e1', '7']) await send(guess('', `{"email":${number}}`));
    expect(received()).toBe(ALLOWED);
    expect(await send(guess('', '{"email":"8"}'))).toBe(401);
  });

  it('counts a large integer with its digits, apart from its neighbors', async () => {
    await start(() => WRONG, 'validation: report');
    for (const digits of ['12345678901234567890', '1000000000000000000000', '-9007199254740993'])
      for (let index = 0; index < GUESSES; index += 1)
        await send(guess('', `{"email":${index % 2 === 0 ? digits : `"${digits}"`}}`));
    expect(received()).toBe(3 * ALLOWED);
    expect(await send(guess('', '{"email":12345678901234567891}'))).toBe(401);
  });

  it('counts very long values', async () => {
    await start(() => WRONG, 'validation: report');
    const long = 'x'.repeat(3_900);
    for (let index = 0; index < GUESSES; index += 1) await send(guess('', `{"email":"${long}"}`));
    expect(received()).toBe(ALLOWED);
    expect(await send(guess('', `{"email":"${long}y"}`))).toBe(401);
  });
});

describe('spellings of one account', () => {
  const accents = [
    'us\u00e9r',
    'use\u0301r',
    'u\u015fer',
    'user\u0308',
    '\u00daser',
    'us\u0113r',
    'uSer\u0301',
    'user',
  ];

  it('count together, whichever characters are hidden in them', async () => {
    await start(() => WRONG);
    const hidden = '\u00ad\u034f\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2063\ufe0f\ufeff';
    const emails = [...hidden].flatMap((one) => [`${one}user@example.com`, `us${one}ER@example.com${one}`]);
    for (const email of [...emails, '\uff35ser@example.com', 'uſer@example.com', 'user@example.com\u2003'])
      await send(guess('', JSON.stringify({ email })));
    expect(received()).toBe(ALLOWED);
  });

  it('count apart by their accents, unless the limit folds them', async () => {
    await start(() => WRONG, '', '{}', '', 'accents');
    for (const email of accents) await send(guess('', JSON.stringify({ email })));
    expect(received()).toBe(ALLOWED);
    await gateway?.close();
    await upstream?.close();
    await start(() => WRONG);
    for (const email of accents) await send(guess('', JSON.stringify({ email })));
    expect(received()).toBe(accents.length);
  });

  it.each([
    ['NUL at the end', '/email', '{"email":"user@example.com\\u0000"}'],
    ['NUL inside', '/email', '{"email":"us\\u0000er@example.com"}'],
    ['a control of C1', '/email', '{"email":"\\u0085user@example.com"}'],
    ['DEL', '/email', '{"email":"user@example.com\\u007f"}'],
    ['a line break', '/email', '{"email":"user@example.com\\n"}'],
    ['a character that Unicode does not assign', '/email', '{"email":"user@example.com\\uffff"}'],
    ['a second member in another letter case', '/Email', '{"email":"x@example.com","Email":"user@example.com"}'],
    ['a second member before it', '/EMAIL', '{"EMAIL":"user@example.com","email":"x@example.com"}'],
    ['a member of another script', '/ema\u0131l', '{"email":"x@example.com","ema\\u0131l":"user@example.com"}'],
    ['a hidden character in a name', '/em\u200bail', '{"em\\u200bail":"user@example.com","email":"x@example.com"}'],
    ['a fullwidth name', '/\uff45mail', '{"email":"x@example.com","\\uff45mail":"user@example.com"}'],
    ['a trailing space in a name', '/email ', '{"email":"x@example.com","email ":"user@example.com"}'],
  ])('are refused without being counted: %s', async (_name, pointer, body) => {
    await start(() => WRONG);
    for (let index = 0; index < GUESSES; index += 1) {
      const response = await sendRequest(portOf(), guess('', body));
      const { code, errors } = response.json();
      expect([response.status, code, errors[0].pointer]).toEqual([400, 'body_invalid', pointer]);
    }
    expect(received()).toBe(0);
    expect(await send(guess('', '{"email":"x@example.com"}'))).toBe(401);
  });

  it('are refused where the limit skips requests without the member', async () => {
    upstream = await startWireUpstream(() => WRONG);
    const routes = `  - id: login
    method: POST
    path: /login
    upstream: up
    access: public
    rateLimits: [account, client]
    body: { maxBytes: 4KB, schema: { type: object } }
rateLimits:
  account: { key: [{ body: /user/email, fold: text }, client], missing: skip, allow: 5 per 15m, count: failures }
  client: { key: { header: X-Client, fold: case }, missing: skip, allow: 5 per 15m }
`;
    gateway = await startGateway(manifest(routes, { up: upstream.url }));
    for (const body of ['{"user":{"Email":"x"}}', '{"USER":{"email":"x"}}', '{"user":{"email":"x"},"User":{}}'])
      expect(await send(guess('', body))).toBe(400);
    for (const body of [
      '{"user":[{"email":"x"}]}',
      '[{"user":{"email":"x"}}]',
      '{"user":[]}',
      '{"user":[[{"email":"x"}]]}',
    ])
      expect([body, await send(guess('', body))]).toEqual([body, 400]);
    for (const value of [
      '["x"]',
      '{"":"x"}',
      '[]',
      '{}',
      '1e21',
      '1e-7',
      '12345678901234567890.0',
      '-9007199254740993e0',
      '1.5',
      '1.99999999999999999999',
      '0.99999999999999999999',
    ])
      expect([value, await send(guess('', `{"user":{"email":${value}}}`))]).toEqual([value, 400]);
    const names = [
      'email\0',
      '\0email',
      'email\0x',
      'em\0ail',
      'email\x1f',
      '\temail',
      'email\x7f',
      '\x85email',
      'email\uffff',
    ];
    for (const name of [
      ...names,
      ' email',
      'email\u2003',
      '\u200bemail',
      'email\ufe0f',
      'email\u{e0041}',
      '\u00e9mail',
      '\ufeffEMAIL\n',
      'e_mail',
      'E-Mail',
      'email_',
      'e\uff3fmail',
    ])
      expect([name, await send(guess('', JSON.stringify({ user: { [name]: 'x' } })))]).toEqual([name, 400]);
    expect(await send(guess('', '{"other":{"Email":"x"}}'))).toBe(401);
    expect(received()).toBe(1);
    const named = (name: string, header = 'X-Client') => send(guess('', '{}', '1.1', `${header}: ${name}`));
    expect(await named('a\tb')).toBe(400);
    const statuses: number[] = [];
    for (const name of ['\u00c9va', '\u00e9va', '\u00c9VA', '\u00e9vA', '\u00e9va', 'E\u0301va'])
      statuses.push(await named(name));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    for (const header of ['x_client', 'X.Client']) expect(await named('\u00c9va', header)).toBe(429);
  });
});

it('refuses existing and unknown accounts, and limits of any kind, with the same bytes', async () => {
  await start(() => WRONG);
  const responses: string[] = [];
  for (const email of ['user@example.com', 'nobody@example.com', 'x'.repeat(500)]) {
    const body = JSON.stringify({ email });
    for (let index = 0; index < ALLOWED; index += 1) expect(await send(guess('', body))).toBe(401);
    const bytes = await exchangeBytes(portOf(), guess('', body, '1.1', 'Connection: close'));
    responses.push(bytes.replaceAll(/"request_id":"[^"]*"|Date: [^\r]*/g, ''));
  }
  expect(responses[0]).toContain('rate_limit_exceeded');
  expect(new Set(responses).size).toBe(1);
});
