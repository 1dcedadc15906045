import { describe, expect, test } from 'vitest';
import type { Cors as CorsEntry } from '../../../src/engine/manifest/manifest.generated.ts';
import type { Finding } from '../../../src/engine/problem/finding.ts';
import { compileCors } from '../../../src/engine/settings/cors.ts';

const DEFAULTS = { headers: ['Authorization'], exposedHeaders: [], credentials: false, maxAge: '10m' };

function compiled(entry: Partial<CorsEntry> & { origins: string[] }) {
  const findings: Finding[] = [];
  return { cors: compileCors({ ...DEFAULTS, ...entry }, findings), findings };
}

describe('an origin', () => {
  test.each([
    'https://app.example',
    'http://localhost:5173',
    'http://127.0.0.1:8080',
    'https://[2001:db8::1]:8443',
    'https://xn--bcher-kva.example',
    'https://a_b.example',
    'https://app.example.',
    'capacitor://localhost',
    'chrome-extension://abcdefghijklmnop',
    'null',
  ])('%s is valid', (origin) => {
    const { cors, findings } = compiled({ origins: [origin] });
    expect(findings).toEqual([]);
    expect(cors.headersFor(origin)).toEqual(['Access-Control-Allow-Origin', origin]);
  });

  test.each([
    'app.example',
    'https://',
    'https://app.example/',
    'https://app.example/path',
    'https://app.example?x',
    'https://app.example#x',
    'https://app.example:443',
    'http://app.example:80',
    'https://app.example:',
    'https://app.example:99999',
    'https://APP.example',
    'HTTPS://app.example',
    'https://user@app.example',
    'https://bücher.example',
    'https://a b.example',
    'https://app.example, https://b.example',
    'https://*.app.example',
    'https://*',
    'file:///a',
    'data:text/plain,a',
    'Null',
    ' https://app.example',
    'https:app.example',
    'https:\\\\app.example',
    'https://app.example\r\nX-A: b',
  ])('%s is invalid', (origin) => {
    const { findings } = compiled({ origins: ['https://b.example', origin] });
    expect(findings.map(({ rule, location }) => [rule, location])).toEqual([
      ['cors-origin', { path: ['cors', 'origins', 1], at: 'value' }],
    ]);
  });
});

describe('a CORS response', () => {
  const { cors } = compiled({
    origins: ['https://a.example', 'https://b.example'],
    exposedHeaders: ['X-A', 'X-B'],
    credentials: true,
  });

  test('to an allowed origin has its headers', () => {
    expect(cors.headersFor('https://b.example')).toEqual([
      ...['Access-Control-Allow-Origin', 'https://b.example'],
      ...['Access-Control-Allow-Credentials', 'true'],
      ...['Access-Control-Expose-Headers', 'X-A, X-B'],
    ]);
    expect(cors.isOriginDependent).toBe(true);
  });

  test.each([
    undefined,
    '',
    '*',
    'null',
    'https://A.example',
    'https://a.example/',
    'https://c.example',
    'constructor',
  ])('to the origin %s has no headers', (origin) => expect(cors.headersFor(origin)).toEqual([]));

  test('is the same for all if any origin is allowed', () => {
    const any = compiled({ origins: ['*'] }).cors;
    for (const origin of [undefined, 'https://a.example', 'null'])
      expect(any.headersFor(origin)).toEqual(['Access-Control-Allow-Origin', '*']);
    expect(any.isOriginDependent).toBe(false);
  });
});

test.each([
  ['10m', '600'],
  ['1h', '3600'],
  ['1999ms', '1'],
  ['0s', '0'],
])('a preflight response may be cached for %s', (maxAge, seconds) => {
  const { cors } = compiled({ origins: ['*'], maxAge, headers: ['A', 'B'], methods: ['GET', 'PUT'] });
  expect(cors.preflightHeaders).toEqual(['Access-Control-Allow-Headers', 'A, B', 'Access-Control-Max-Age', seconds]);
  expect(cors.methods).toEqual(['GET', 'PUT']);
  expect(compiled({ origins: ['*'], headers: [], maxAge }).cors.preflightHeaders).toEqual([
    'Access-Control-Max-Age',
    seconds,
  ]);
});
