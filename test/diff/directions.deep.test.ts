import { describe, expect, test } from 'vitest';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { fullSideOf, MANIFESTS, SOCKET } from './full-manifests.ts';

/** The values of a key from the strictest to the loosest; `undefined` leaves the key out. Values in one list have the same effect. */
interface Order {
  readonly key: string;
  readonly values: readonly (readonly unknown[])[];
  /** The kind and severity of a change to a looser and to a stricter value. */
  readonly looser: string;
  readonly stricter: string;
  /** The index of the manifest that has the key. */
  readonly manifest?: number;
}

const NONE = [undefined];

function order(key: string, values: readonly (readonly unknown[])[], looser: string, stricter: string): Order {
  return { key, values, looser, stricter };
}

const [JWT, INTROSPECTION] = [0, 4];
const CORS = ['warning cors-widened', 'info cors-narrowed'] as const;
const LIMIT = ['warning server-limit-raised', 'info server-limits'] as const;
const TRUST = ['warning token-trust', 'info token-trust-less'] as const;
const RATE = ['warning rate-limit-loosened', 'info rate-limit-tightened'] as const;
const FORM = ['warning form-changed', 'info form-added'] as const;
const PART = 'routes.form.body.multipart.parts.a';

const ORDERS: readonly Order[] = [
  order('cors', [NONE, [{ origins: ['https://a.example'] }]], ...CORS),
  order('cors.origins', [[['https://a.example']], [['https://a.example', 'null']], [['*']]], ...CORS),
  order(
    'cors.methods',
    [
      [['GET']],
      [
        ['GET', 'POST'],
        ['POST', 'GET'],
      ],
      NONE,
    ],
    ...CORS,
  ),
  order(
    'cors.headers',
    [[[]], [['Authorization'], ['authorization']], [undefined, ['Content-Type', 'Authorization']]],
    ...CORS,
  ),
  order('cors.exposedHeaders', [[undefined, []], [['X-Of']], [['X-Of', 'X-By']]], ...CORS),
  order('cors.credentials', [[undefined, false], [true]], ...CORS),
  order('cors.maxAge', [['0s', '900ms'], ['60s', '1m'], [undefined, '10m'], ['1h']], ...CORS),
  order(
    'server.tls',
    [[{ certificate: './tls.crt', key: './tls.key' }], NONE],
    'error server-plain',
    'info server-certificate',
  ),
  order(
    'server.trustedProxies',
    [
      [undefined, []],
      [['10.0.0.1'], ['10.0.0.1/32']],
      [['10.0.0.0/8'], ['10.0.0.0/9', '10.128.0.0/9']],
      [['0.0.0.0/0']],
      [['::/0']],
    ],
    'error trusted-proxies-widened',
    'info trusted-proxies-narrowed',
  ),
  order('server.limits.headerBytes', [['1KB', '1024B'], [undefined, '16KB'], ['1MB']], ...LIMIT),
  order('server.limits.headers', [[1], [undefined, 100], [1_000_000]], ...LIMIT),
  order('server.limits.connections', [[1], [undefined, 10_000], [1_000_000]], ...LIMIT),
  order('server.limits.requestsPerConnection', [[1], [undefined, 10_000], [1_000_000]], ...LIMIT),
  order('server.limits.bufferedBodies', [['8MB'], [undefined, '256MB'], ['1GB', '1024MB']], ...LIMIT),
  order(
    'listen',
    [[undefined, '127.0.0.1:8080'], ['10.0.0.1:8080'], ['0.0.0.0:8080']],
    'error listen-opened',
    'info listen-changed',
  ),
  {
    ...order(
      'listen',
      [
        ['unix:/run/a.sock', { address: 'unix:/run/a.sock' }, { address: 'unix:/run/a.sock', mode: '0600' }],
        [{ address: 'unix:/run/a.sock', mode: '0660' }],
        [undefined, '127.0.0.1:8080', { address: '127.0.0.1:8080' }],
        ['10.0.0.1:8080', { address: '10.0.0.1:8080' }],
      ],
      'error listen-opened',
      'info listen-changed',
    ),
    manifest: SOCKET,
  },
  order(
    'admin.listen',
    [['127.0.0.1:9901'], ['10.0.0.1:9901'], ['[::]:9901', '[::0]:9901']],
    'error admin-opened',
    'info admin-changed',
  ),
  order('admin.token', [['${ADMIN_TOKEN}'], NONE], 'error admin-unprotected', 'info admin-changed'),
  order('admin.tls.clientCa', [['./ca.pem'], NONE], 'error admin-unprotected', 'info admin-changed'),
  order(
    'admin.tls',
    [[{ certificate: './tls.crt', key: './tls.key' }], NONE],
    'error admin-plain',
    'info admin-changed',
  ),
  order(
    'reload.selfTest',
    [['self.test.yaml', './self.test.yaml'], NONE],
    'error self-test-removed',
    'info self-test-added',
  ),
  order(
    'rateLimits.account.allow',
    [['1 per 1m'], ['2 per 1m', '4 per 2m', '120 per 1h', '2 per 60s'], ['3 per 1m'], ['4 per 1m']],
    ...RATE,
  ),
  order('rateLimits.account.burst', [[1], [undefined, 5], [6]], ...RATE),
  order(
    'rateLimits.account.failures',
    [
      [[401, 403, 404]],
      [
        [401, 403],
        [403, 401],
      ],
      [[403]],
    ],
    ...RATE,
  ),
  order('rateLimits.caller.count', [[undefined, 'requests'], ['failures']], ...RATE),
  order('rateLimits.account.missing', [['refuse'], ['skip']], ...RATE),
  order('rateLimits.account.store', [['counters'], NONE], ...RATE),
  order(
    'rateLimits.address.mode',
    [[undefined, 'enforce'], ['report']],
    'warning rate-limit-reported',
    'info rate-limit-enforced',
  ),
  order(
    'routes.login.rateLimits',
    [
      [
        ['address', 'other'],
        ['other', 'address'],
      ],
      [['address']],
      NONE,
    ],
    'warning rate-limit-removed',
    'info rate-limit-added',
  ),
  order(
    'stores.counters.onFailure',
    [['refuse'], [undefined, 'local']],
    'warning store-fallback',
    'info store-changed',
  ),
  order('log.sample2xx', [[0], [0.5], [undefined, 1]], 'warning log-more', 'info log-changed'),
  order('log.replay', [[undefined, false], [true]], 'info log-replay', 'info log-changed'),
  order('log.paths', [['keyed'], NONE, ['plain']], 'warning log-paths-plain', 'info log-paths-keyed'),
  order(
    'auth.tokens.jwt.algorithms',
    [
      [['ES256']],
      [
        ['ES256', 'ES384'],
        ['ES384', 'ES256'],
      ],
    ],
    'error token-algorithms',
    'info token-algorithms-fewer',
  ),
  order(
    'auth.tokens.jwt.type',
    [['JWT', 'jwt', 'application/jwt'], NONE],
    'error token-type',
    'info token-conditions-more',
  ),
  order(
    'auth.tokens.jwt.requiredClaims',
    [[['a', 'b']], [['b'], ['b', 'exp']], [undefined, [], ['exp']]],
    'error token-claims',
    'info token-claims-more',
  ),
  order('auth.tokens.jwt.clockTolerance', [['0s'], [undefined, '5000ms'], ['1m', '60s']], ...TRUST),
  order('auth.tokens.jwt.staleIfError', [['0s'], [undefined, '60m'], ['2h']], ...TRUST),
  order('auth.tokens.jwt.cache.maxAge', [['0s'], [undefined, '1m'], ['2h']], ...TRUST),
  {
    ...order('auth.tokens.introspection.issuer', [['i'], NONE], 'error token-issuer', 'info token-conditions-more'),
    manifest: INTROSPECTION,
  },
  {
    ...order('auth.tokens.introspection.audience', [['i'], NONE], 'error token-audience', 'info token-conditions-more'),
    manifest: INTROSPECTION,
  },
  {
    ...order('auth.tokens.introspection.staleIfError', [[undefined, '0s', '0ms'], ['1s']], ...TRUST),
    manifest: INTROSPECTION,
  },
  order(
    'auth.role.allow',
    [
      [['admin']],
      [
        ['admin', 'user'],
        ['user', 'admin'],
      ],
      [['admin', 'user', 'guest']],
    ],
    'error role-widened',
    'warning role-narrowed',
  ),
  order(
    'routes.notes.roles',
    [[['admin']], [undefined, ['user', 'admin']]],
    'error role-widened',
    'warning role-narrowed',
  ),
  order('routes.socket.access', [['protected'], ['public']], 'error route-public', 'warning route-protected'),
  order('routes.socket.websocket', [[undefined, false], [true]], 'warning websocket-opened', 'info websocket-closed'),
  order(
    'routes.page.websocket',
    [
      [{ origins: ['https://page.example'] }],
      [{ origins: ['https://app.example', 'https://page.example'] }],
      [{ origins: ['*'] }],
    ],
    'warning websocket-origins-widened',
    'info websocket-origins-narrowed',
  ),
  // A literal path never has an encoded slash.
  order('routes.page.encodedSlash', [[undefined, 'refuse', 'keep']], '', ''),
  order(
    'routes.notes.encodedSlash',
    [[undefined, 'refuse'], ['keep']],
    'warning encoded-slash-kept',
    'info encoded-slash-refused',
  ),
  order(
    'routes.notes.validation',
    [[undefined, 'enforce'], ['report']],
    'warning validation-reported',
    'info validation-enforced',
  ),
  order(
    'routes.notes.body.maxBytes',
    [['1KB'], ['64KB', '65536B'], [undefined, '1024KB'], ['32MB']],
    'warning limit-raised',
    'info limit-lowered',
  ),
  order(
    'routes.login.login.maxBytes',
    [['1KB'], [undefined, '1MB'], ['32MB']],
    'warning limit-raised',
    'info limit-lowered',
  ),
  order('routes.login.login', [[{ token: '/a' }, { token: ['/a'] }], NONE], 'error login-removed', 'info login-added'),
  order('routes.login.login.header', [['X-Token', 'x-token'], NONE], 'error login-loosened', 'warning login-changed'),
  order(
    'routes.notes.requestHeaders.keep',
    [[undefined, []], [['X-Method'], ['x-method']], [['X-Method', 'X-Host']]],
    'error header-override-kept',
    'info header-override-dropped',
  ),
  order(`${PART}.types`, [[['image/png'], ['IMAGE/PNG']], [['image/*'], ['image/png', 'image/*']], NONE], ...FORM),
  order(`${PART}.maxBytes`, [['1KB'], [undefined, '1024MB'], ['2GB']], ...FORM),
  order(`${PART}.maxCount`, [[undefined, 1], [2], [10_000]], ...FORM),
  order(`${PART}.required`, [[true], [undefined, false]], ...FORM),
  order(
    'upstreams.contacts.tls.ca',
    [['./ca.pem', 'ca.pem'], NONE],
    'error upstream-ca-removed',
    'warning upstream-ca',
  ),
];

type Holder = Record<string, unknown>;

/** Returns a manifest with a value, or without one for `undefined`. A route is named by its id. */
function manifestWith(key: string, value: unknown, index = JWT): unknown {
  const manifest = structuredClone(MANIFESTS[index]) as unknown as Holder;
  if (key === 'cors.origins') delete (manifest['cors'] as Holder)['credentials'];
  const steps = key.split('.');
  const last = steps.pop() ?? '';
  let holder = manifest;
  for (const step of steps) {
    const next = Array.isArray(holder) ? holder.find(({ id }) => id === step) : holder[step];
    holder = next as Holder;
  }
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return manifest;
}

const sides = new Map<string, DiffSide>();

/** Loads a manifest once for all its comparisons. */
function sideOf(manifest: unknown): DiffSide {
  const text = JSON.stringify(manifest);
  const side = sides.get(text) ?? fullSideOf(manifest);
  if (side === undefined) throw new Error(`a manifest does not load: ${text}`);
  sides.set(text, side);
  return side;
}

function kinds(old: unknown, next: unknown): string[] {
  return diff(sideOf(old), sideOf(next)).map(({ severity, rule }) => `${severity} ${rule}`);
}

describe('a change of a setting has the direction of its effect', () => {
  test.each(ORDERS)('for $key', ({ key, values, looser, stricter, manifest }) => {
    const levels = values.flatMap((same, level) => same.map((value) => ({ level, value })));
    for (const old of levels)
      for (const next of levels) {
        const found = kinds(manifestWith(key, old.value, manifest), manifestWith(key, next.value, manifest));
        const change = `${JSON.stringify(old.value)} → ${JSON.stringify(next.value)}`;
        if (old.level === next.level) expect([change, found]).toEqual([change, []]);
        else {
          const expected = next.level > old.level ? looser : stricter;
          expect([change, found.some((kind) => kind.startsWith(expected)), found]).toEqual([change, true, found]);
          // The opposite direction is not reported.
          const opposite = next.level > old.level ? stricter : looser;
          if (!opposite.endsWith('-'))
            expect([change, found]).not.toEqual([change, expect.arrayContaining([opposite])]);
        }
      }
  });
});
