import type { Socket } from 'node:net';
import { test as base, describe, expect } from 'vitest';
import type { Verifier } from '../../../src/engine/tokens/verifier.ts';
import type { Message } from '../../support/message.ts';
import { scaledMs } from '../../support/slowness.ts';
import { startWireUpstream, type WireResponse, type WireUpstream } from '../../support/upstream.ts';
import { claims, ecKey, keyFile, tokenOf, verifierFor } from './keys.ts';

const key = ecKey('one');
const TIMEOUT = '500ms';
/** Detects a request that never ends. Generous, because the machine may be busy. */
const SLACK_MS = scaledMs(25_000);

/** An identity service of one test. */
interface Identity {
  readonly url: string;
  readonly service: WireUpstream;
  /** How the service responds from now on; `undefined`: correctly. */
  hostile: Hostile | undefined;
}

type Hostile = (request: Message, url: string) => WireResponse;

/** Most of the time of these tests is spent on timeouts, so they run concurrently, each with its own service. */
const test = base.extend<{ identity: Identity }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from the pattern
  identity: async ({}, use) => {
    const service = await startWireUpstream(
      (request) => identity.hostile?.(request, service.url) ?? ok(correct(request, service.url)),
    );
    const identity: Identity = { url: service.url, service, hostile: undefined };
    await use(identity);
    await service.close();
  },
});

const pathOf = ({ line }: Message) => line.split(' ')[1] ?? '';

/** Returns the correct content of a response. */
function correct(request: Message, url: string): unknown {
  const path = pathOf(request);
  if (path.startsWith('/.well-known/')) return { issuer: url, jwks_uri: `${url}/keys` };
  if (path === '/keys') return JSON.parse(keyFile(key));
  return { active: true, sub: 'someone' };
}

function ok(value: unknown, ...headers: string[]): string {
  const body = JSON.stringify(value);
  const lines = ['HTTP/1.1 200 OK', 'Content-Type: application/json', `Content-Length: ${body.length}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

interface VerificationMethod {
  readonly make: (url: string) => Verifier;
  readonly token: (name: string, url: string) => string;
}

const jwt = (changes: (url: string) => object): VerificationMethod => ({
  make: (url) =>
    verifierFor({
      jwt: { algorithms: ['ES256'], issuer: url, audience: 'gateway-test', timeout: TIMEOUT, ...changes(url) },
    }),
  token: (name, url) => tokenOf({ alg: 'ES256', kid: 'one' }, claims({ iss: url, sub: name }), key),
});

const METHODS: Record<string, VerificationMethod> = {
  jwks: jwt((url) => ({ jwks: `${url}/keys` })),
  discovery: jwt((url) => ({ discovery: url })),
  introspection: {
    make: (url) =>
      verifierFor(
        {
          introspection: {
            endpoint: `${url}/introspect`,
            clientId: 'gateway',
            clientSecret: '${SECRET}',
            timeout: TIMEOUT,
          },
        },
        { env: { SECRET: 'secret' } },
      ),
    token: (name) => name,
  },
  userinfo: {
    make: (url) => verifierFor({ userinfo: { endpoint: `${url}/me`, timeout: TIMEOUT } }),
    token: (name) => name,
  },
};

async function verdictOf(verifier: Verifier, token: string): Promise<string> {
  const start = performance.now();
  const verdict = await verifier.verify(token);
  expect(performance.now() - start).toBeLessThan(SLACK_MS);
  return 'code' in verdict ? verdict.code : 'accepted';
}

/** Retries, because on a busy machine a good response may arrive too late. */
async function accepts(verifier: Verifier, token: string): Promise<void> {
  let verdict = '';
  for (let tries = 0; tries < 20 && verdict !== 'accepted'; tries += 1) verdict = await verdictOf(verifier, token);
  expect(verdict).toBe('accepted');
}

/** Writes one chunk after the other until the socket is closed. */
function trickle(chunk: string | ((index: number) => string), everyMs = 5) {
  return (socket: Socket) => {
    let index = 0;
    const timer = setInterval(() => socket.write(typeof chunk === 'string' ? chunk : chunk(index++)), everyMs);
    socket.once('close', () => clearInterval(timer));
  };
}

/** Writes as fast as the socket takes it, up to 64 MB. */
function flood(chunk: string) {
  const block = chunk.repeat(Math.ceil(65_536 / chunk.length));
  return (socket: Socket) => {
    let left = 1_000;
    const more = () => {
      while (left > 0 && !socket.destroyed) {
        left -= 1;
        if (!socket.write(block)) return void socket.once('drain', more);
      }
    };
    more();
  };
}

const saying =
  (text: string, end?: (socket: Socket) => void) =>
  (socket: Socket): void => {
    socket.write(text, 'latin1', () => end?.(socket));
  };
const closing = (socket: Socket) => void socket.end();
const resetting = (socket: Socket) => void socket.resetAndDestroy();
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';

/** Invalid or incomplete responses. */
const HOSTILE: Record<string, Hostile> = {
  '101 without a request for it': () => saying(SWITCH),
  '101 and bytes of another protocol': () => saying(`${SWITCH}\0\0\0\x04`),
  '101 and a close': () => saying(SWITCH, closing),
  '101 and a complete response': (request, url) => saying(SWITCH + ok(correct(request, url))),
  silence: () => () => undefined,
  'a close': () => closing,
  'a reset': () => resetting,
  'half a status line': () => saying('HTTP/1.'),
  'half a head': () => saying(HEAD),
  'half a head and a close': () => saying(HEAD, closing),
  'a head, byte by byte': () => trickle((index) => HEAD[index] ?? 'x', 20),
  'a head without end': () => flood(`X: ${'x'.repeat(100)}\r\n`),
  'a head that is too large': () => saying(`${HEAD}X: ${'x'.repeat(20_000)}\r\n\r\n`),
  '103 again and again': () => trickle(HINTS),
  '103 without end': () => flood(HINTS),
  '100 again and again': () => trickle(CONTINUE),
  '100 without end': () => flood(CONTINUE),
  '101 informational responses before a good one': (request, url) =>
    saying(HINTS.repeat(101) + ok(correct(request, url))),
  'a head and no body': () => saying(`${HEAD}Content-Length: 99\r\n\r\n`),
  'half a body': () => saying(`${HEAD}Content-Length: 99\r\n\r\n{"active":true,`),
  'half a body and a close': () => saying(`${HEAD}Content-Length: 99\r\n\r\n{"active":true,`, closing),
  'half a body and a reset': () => saying(`${HEAD}Content-Length: 99\r\n\r\n{"active":true,`, resetting),
  'a body, byte by byte': () => (socket) => {
    socket.write(`${HEAD}Content-Length: 200000\r\n\r\n`);
    trickle(' ')(socket);
  },
  'chunks, byte by byte': () => (socket) => {
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    trickle('1\r\n \r\n')(socket);
  },
  'chunks without end': () => (socket) => {
    socket.write(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    flood('1\r\n \r\n')(socket);
  },
  'a chunk that is cut': () => saying(`${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{}`, closing),
  'a body without end': () => (socket) => {
    socket.write(`${HEAD}\r\n`);
    flood(' ')(socket);
  },
  'a body that is too long': () => saying(`${HEAD}Content-Length: 300000\r\n\r\n${' '.repeat(300_000)}`),
  garbage: () => saying('\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03'),
  'garbage without end': () => flood('\xff\xfe\0garbage'),
  'HTTP/0.9': () => saying('{"active":true,"sub":"a"}\r\n\r\n', closing),
  'two lengths': () => saying(`${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `),
  'a length and chunks': () => saying(`${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
  HTML: () => saying('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n<h1>'),
  gzip: () => saying(`${HEAD}Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08`),
  'a redirect': () => saying('HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n'),
  '204': () => saying('HTTP/1.1 204 No Content\r\n\r\n'),
  '500': () => saying('HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n'),
  '503': () => saying('HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n'),
};

describe.concurrent.each(Object.keys(METHODS))('by %s', (name) => {
  const method = METHODS[name] as VerificationMethod;

  test.for(Object.keys(HOSTILE))(
    '%s ends within the timeout, and the next request succeeds',
    async (behaviour, { identity }) => {
      const { url, service } = identity;
      const verifier = method.make(url);
      identity.hostile = HOSTILE[behaviour];
      expect(await verdictOf(verifier, method.token('new', url))).toBe('keys_unavailable');
      expect(service.messages.map(pathOf)).not.toContain('/elsewhere');
      identity.hostile = undefined;
      await accepts(verifier, method.token('later', url));
      await accepts(verifier, method.token('new', url));
      expect(verifier.methods[0]?.status.verifying).toBe(0);
    },
  );

  test('a cached token is accepted while the service is hostile', async ({ identity }) => {
    const { url } = identity;
    const verifier = method.make(url);
    const known = method.token('known', url);
    await accepts(verifier, known);
    identity.hostile = HOSTILE['101 without a request for it'];
    const isKeySet = name === 'jwks' || name === 'discovery';
    const waiting = verdictOf(verifier, isKeySet ? otherKey(url) : method.token('new', url));
    expect(verifier.cached(known)).toBeDefined();
    expect(await waiting).not.toBe('accepted');
    expect(verifier.cached(known)).toBeDefined();
  });
});

const otherKey = (url: string) => tokenOf({ alg: 'ES256', kid: 'two' }, claims({ iss: url }), ecKey('two'));

describe.concurrent('by discovery with valid metadata and hostile keys', () => {
  test.for(Object.keys(HOSTILE))('%s', async (behaviour, { identity }) => {
    const { url } = identity;
    const method = METHODS['discovery'] as VerificationMethod;
    const verifier = method.make(url);
    identity.hostile = (request) =>
      (pathOf(request) === '/keys' ? HOSTILE[behaviour]?.(request, url) : undefined) ?? ok(correct(request, url));
    expect(await verdictOf(verifier, method.token('new', url))).toBe('keys_unavailable');
    identity.hostile = undefined;
    await accepts(verifier, method.token('new', url));
  });
});

test.concurrent.for(Object.keys(METHODS))(
  'a TLS handshake without a response ends within the timeout: %s',
  async (name, { identity }) => {
    const url = identity.url.replace('http:', 'https:');
    const method = METHODS[name] as VerificationMethod;
    expect(await verdictOf(method.make(url), method.token('new', url))).toBe('keys_unavailable');
  },
);

test('made-up key ids cause one fetch per interval, even if the service hangs', async ({ identity }) => {
  const { url, service } = identity;
  const method = METHODS['jwks'] as VerificationMethod;
  const verifier = method.make(url);
  await accepts(verifier, method.token('known', url));
  service.messages.length = 0;
  identity.hostile = HOSTILE['silence'];
  const tokens = Array.from({ length: 200 }, (_, index) =>
    tokenOf({ alg: 'ES256', kid: `made-up-${index}` }, claims({ iss: url }), key),
  );
  await Promise.all(tokens.map((token) => verifier.verify(token)));
  expect(service.messages.length).toBeLessThanOrEqual(2);
  expect(await verdictOf(verifier, method.token('another', url))).toBe('accepted');
});

test('a connection with bytes after a complete response is not reused', async ({ identity }) => {
  const { url, service } = identity;
  const method = METHODS['introspection'] as VerificationMethod;
  const verifier = method.make(url);
  identity.hostile = (request) => ok(correct(request, url)) + ok({ active: true, sub: 'poisoned' });
  for (const name of ['a', 'b', 'c']) {
    const verdict = await verifier.verify(name);
    expect('principal' in verdict && verdict.principal.claims['sub']).toBe('someone');
  }
  expect(service.sockets.length).toBe(3);
});
