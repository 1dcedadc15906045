import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasEncodedSlash, readRequestTarget } from '../../src/engine/gateway/request/request-head.ts';
import { Refusal } from '../../src/engine/gateway/response/refusal.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { cases, runs } from '../support/runs.ts';

const HOST = 'gateway.test';

const REFUSED: Record<string, string[]> = {
  'dot segments': [
    '/.',
    '/..',
    '/./',
    '/../',
    '/a/.',
    '/a/..',
    '/a/./b',
    '/a/../b',
    '/public/../x',
    '/public/../../x',
    '/a/b/c/../../../../etc/passwd',
    '/../a',
    '/./a',
  ],
  'encoded dot segments, any mix': [
    '/public/%2e%2e/x',
    '/public/%2E%2E/x',
    '/public/%2e%2E/x',
    '/public/.%2e/x',
    '/public/%2e./x',
    '/public/%2e/x',
    '/%2e%2e',
    '/%2e',
    '/public/%252e%252e/x',
    '/public/%25%32%65%25%32%65/x',
    '/public/%%32%65%%32%65/x',
    '/public/.%252e/x',
  ],
  'blanks around dot segments': [
    '/a/..%20/b',
    '/a/%20../b',
    '/a/%20..%20/b',
    '/a/.%20/b',
    '/a/..%20%20/b',
    '/a/..%C2%A0/b',
  ],
  separators: [
    '/public/..%2fx',
    '/public/..%2Fx',
    '/public/..%5cx',
    '/public/..%5Cx',
    '/public/..\\x',
    '/a%2fb',
    '/a%2Fb',
    '/a%5cb',
    '/a\\b',
    '\\a',
    '/\\a',
    '/\\/a',
    '/a%252fb',
    '/a%255cb',
    '/a%25%32%66b',
    '/a%25%35%63b',
    '/a%%32%66b',
  ],
  'empty segments': ['//', '//x', '///x', '/a//b', '/a//', '/a///b', '//gateway.test/x', '/a/%20/b', '/a/b//'],
  'escapes of unreserved characters': [
    '/%61dmin',
    '/%41dmin',
    '/admi%6E',
    '/a%2Db',
    '/a%2db',
    '/a%5Fb',
    '/a%7Eb',
    '/a%7eb',
    '/%30',
    '/%39',
    '/%5a',
    '/%7a',
    '/file%2etxt',
  ],
  'malformed escapes': [
    '/%',
    '/%2',
    '/%zz',
    '/a%',
    '/a%2',
    '/a%g1',
    '/a%1g',
    '/%u002e',
    '/%U002e/x',
    '/% 20',
    '/%+1',
    '/%%',
  ],
  'bytes that are not UTF-8, overlong and surrogate escapes': [
    '/%c0%ae',
    '/%c0%ae%c0%ae/x',
    '/%e0%80%ae',
    '/%c0%af',
    '/%f0%80%80%af',
    '/%ff',
    '/%80',
    '/%c3',
    '/%c3%28',
    '/%ed%a0%80',
    '/%ed%b0%80',
    '/%f4%90%80%80',
    '/%fe%ff',
  ],
  'control characters': [
    '/%00',
    '/a%00.png',
    '/a%00b',
    '/%01',
    '/%0a',
    '/%0D%0AX:1',
    '/a%0ab',
    '/a%0db',
    '/a%09b',
    '/a%1fb',
    '/a%7fb',
    '/a%7Fb',
    '/a%c2%80b',
    '/a%C2%9Fb',
    '/a%2500b',
    '/a%250ab',
    '/a\tb',
    '/a\u0000b',
    '/a\u007fb',
  ],
  'path parameters that hide dot segments': [
    '/public/..;/x',
    '/public/..;a=b/x',
    '/public/.;/x',
    '/public/..;',
    '/public/..;x',
    '/public/..%3b/x',
    '/public/..%3B/x',
    '/public/..%253b/x',
    '/public/;/x',
    '/public/;x=1/x',
    '/;/x',
    '/;a',
    '/public/..%20;/x',
    '/public/;..;/x',
  ],
  'dot segments before an escaped query or fragment': [
    '/public/..%3f/x',
    '/public/..%3Fa=b/x',
    '/public/..%23/x',
    '/public/.%23/x',
  ],
  'fragments, and raw characters that are invalid in a path': [
    '/x#/y',
    '/#',
    '/x?a#b',
    '#/x',
    '/a b',
    '/é',
    '/a\u00a0b',
    '/\u00ff',
    '/x?é',
    '/x?a b',
    '/a"b',
    '/a<b',
    '/a>b',
    '/a`b',
    '/a^b',
    '/a|b',
    '/a{b',
    '/a}b',
    '/[',
    '/]',
    '/a[0]',
  ],
  'request targets of an unsupported form': [
    '',
    '*',
    'x',
    'x/y',
    '?x',
    'gateway.test:80',
    'http:/x',
    'http:x',
    'http:///x',
    'ftp://gateway.test/x',
    'ws://gateway.test/x',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://[',
    'http://a:b/',
    'https:gateway.test/x',
  ],
  'absolute request targets of another authority': [
    'http://other.test/x',
    'http://gateway.test:81/x',
    'http://gateway.test:443/x',
    'https://gateway.test:80/x',
    'http://gateway.test.other/x',
    'http://xgateway.test/x',
    'http://user@gateway.test/x',
    'http://user:pass@gateway.test/x',
    'http://gateway.test@other.test/x',
    'http://gateway.test\\@other.test/x',
    'http://gateway.test./x',
    'http://%67ateway.test/x',
    'http://',
    'http://?x',
  ],
  'absolute request targets with a refused path': [
    'http://gateway.test//x',
    'http://gateway.test/../x',
    'http://gateway.test/%2e%2e/x',
    'http://gateway.test/a%2fb',
    'http://gateway.test/x#y',
    'http://gateway.test/..;/x',
  ],
};

/** Request targets that pass byte for byte. */
const ACCEPTED: [target: string, path?: string, query?: string][] = [
  ['/'],
  ['/x'],
  ['/x/'],
  ['/a/b/c/d/e/f/g'],
  ['/a.b'],
  ['/.well-known/jwks.json'],
  ['/...'],
  ['/..a/b'],
  ['/a../b'],
  ['/a/.../b'],
  ['/.a'],
  ['/~user'],
  ["/a!$&'()*+,;=:@-._~"],
  ['/admin;x=1'],
  ['/a;b;c'],
  ['/a%20b'],
  ['/a%27b'],
  ['/a%3Bb'],
  ['/a%3bb'],
  ['/caf%C3%A9'],
  ['/caf%c3%a9'],
  ['/%E2%82%AC'],
  ['/%F0%9F%98%80'],
  ['/100%25'],
  ['/100%25/x'],
  ['/50%25off'],
  ['/a%22%3C%3E%5B%5D%5E%60%7B%7C%7D'],
  ['/a%23b'],
  ['/tags/%23a'],
  ['/tags/%3Fa'],
  ['/a%3Fb'],
  ['/a%40b%3Ac'],
  ['/x?', '/x', '?'],
  ['/x??', '/x', '??'],
  ['/x?a=1&a=2', '/x', '?a=1&a=2'],
  ['/x?/../../etc', '/x', '?/../../etc'],
  ['/x?%2e%2e%2f%00%zz%', '/x', '?%2e%2e%2f%00%zz%'],
  [`/x?"'<>[]{}|\\^\``, '/x', `?"'<>[]{}|\\^\``],
  ['/x?http://other.test//', '/x', '?http://other.test//'],
  ['/?x', '/', '?x'],
  ['http://gateway.test/x', '/x'],
  ['HTTP://GATEWAY.test/x', '/x'],
  ['http://gateway.test:80/x?y', '/x', '?y'],
  ['https://gateway.test:443/x', '/x'],
  ['http://gateway.test', '/'],
  ['http://gateway.test?x', '/', '?x'],
  ['http://gateway.test/a%20b?c=%', '/a%20b', '?c=%'],
];

describe('readRequestTarget', () => {
  describe.each(Object.entries(REFUSED))('refuses %s', (_class, targets) => {
    it.each(targets)('%j', (target) => {
      expect(refusalOf(target)).toMatch(/^(path_ambiguous|message_malformed)$/);
    });
    const paths = targets.filter((target) => target.startsWith('/') && !target.includes('?'));
    it.each(paths)('%j with a query or a prefix', (target) => {
      expect(refusalOf(`${target}?a=1`)).toBeDefined();
      expect(refusalOf(`/before${target}`)).toBeDefined();
    });
  });

  it.each(ACCEPTED)('accepts %j unchanged', (target, path = target, query = '') => {
    expect(readRequestTarget(target, HOST)).toEqual({ path, query });
  });

  it('accepts every visible ASCII character except # in a query, and a long query', () => {
    const all = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index))
      .join('')
      .replace('#', '');
    const query = `?${all.repeat(90)}`;
    expect(readRequestTarget(`/x${query}`, HOST)).toEqual({ path: '/x', query });
  });

  it('compares an absolute request target with a Host that has a port', () => {
    expect(readRequestTarget('http://gateway.test:8080/x', 'gateway.test:8080').path).toBe('/x');
    expect(readRequestTarget('http://[::1]:8080/x', '[::1]:8080').path).toBe('/x');
    expect(refusalOf('http://gateway.test/x', 'gateway.test:8080')).toBe('message_malformed');
    expect(refusalOf('http://gateway.test:8080/x', 'gateway.test')).toBe('message_malformed');
    expect(refusalOf('http://gateway.test/x', null)).toBe('message_malformed');
  });

  describe('on a route that keepsSlashes encoded slashes', () => {
    it.each(['/a%2Fb', '/a%2fb', '/a%2Fb%2fc/', '/a/b%2Fc/d', '/a;x%2Fb', '/...%2F.a', '/%20a%2Fb', '/a%3F%2Fb'])(
      'accepts %s unchanged',
      (target) => {
        expect(readRequestTarget(target, HOST, true)).toEqual({ path: target, query: '' });
        expect(hasEncodedSlash(target)).toBe(true);
        expect(refusalOf(target)).toBe('path_ambiguous');
      },
    );

    it.each([
      '/%2F',
      '/%2fa',
      '/a%2f',
      '/a%2f/b',
      '/a%2f%2fb',
      '/a%2f..',
      '/..%2fa',
      '/a%2f.%2fb',
      '/a%2f%2e',
      '/a%2f;b',
    ])('still refuses %s', (target) =>
      expect(errorOf(() => readRequestTarget(target, HOST, true))).toMatchObject({ code: 'path_ambiguous' }),
    );

    it.each(
      Object.values(REFUSED)
        .flat()
        .filter((target) => !/^\/a%2[fF]b$|\/a%2fb$/.test(target)),
    )('refuses %j as on other routes', (target) =>
      expect(errorOf(() => readRequestTarget(target, HOST, true))).toMatchObject({ status: 400 }),
    );
  });

  it('omits the exact violation from its refusal', () => {
    const refusal = errorOf(() => readRequestTarget('/sentinel/../x', HOST)) as Refusal;
    expect(refusal.body('id')).not.toMatch(/sentinel|dot/);
    expect(refusal.reason).toBe('path_dot_segment');
  });

  it('processes long hostile paths quickly', () => {
    const started = cpuMs();
    for (const part of ['/a', '/%20', '/.a', 'a', '%25', ';', '/a;', '%C3%A9', '/%', '.', ' ', '%20', 'a%2f'])
      errorOf(() => readRequestTarget(`/${part.repeat(8_000)}a`, HOST, true));
    expect(cpuMs() - started).toBeLessThan(1_000);
  });

  it.each([false, true])('accepts only unambiguous paths, with encoded slashes kept: %s', (keepsSlashes) => {
    let accepted = 0;
    fc.assert(
      fc.property(HOSTILE_PATHS, (path) => {
        if (errorOf(() => readRequestTarget(path, HOST, keepsSlashes)) !== undefined) return;
        accepted += 1;
        expect(readRequestTarget(path, HOST, keepsSlashes)).toEqual({ path, query: '' });
        expect(new URL(path, 'http://h').pathname).toBe(path);
        const decoded = decodeURIComponent(path);
        expect(decoded).not.toMatch(/[\u0080-\u009f]/);
        for (const text of [path, decoded, decodeBytes(path), decodeBytes(decodeBytes(path)), decodeBytes(decoded)])
          expect(ambiguitiesOf(text)).toEqual([]);
      }),
      { numRuns: runs(20_000) },
    );
    expect(accepted).toBeGreaterThan(cases(500));
  });
});

const PARTS = ['a', 'B', '0', '~', "'", ':', '@', '+', '!', '%20', '%25', '%23', '%3F', '%3b', '%C3%A9', '%27', '%22'];
const TRAPS = [
  '.',
  '..',
  '...',
  '%2e',
  '%2E',
  '/',
  '%2f',
  'a%2fb',
  '%5c',
  '\\',
  ';',
  '2e',
  '2f',
  '5C',
  '%',
  '%0a',
  '%00',
  '%c2%a0',
];
const MORE_TRAPS = [
  '%61',
  '%c0%ae',
  '%c2%80',
  '%7f',
  '%252e',
  '%E2%80%A8',
  '%u002e',
  '"',
  '|',
  '[',
  ' ',
  '\t',
  'é',
  '%EF%BC%8E',
];

const PATH_PARTS = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PARTS) },
  { weight: 5, arbitrary: fc.constantFrom('/', '.', ';', '/a') },
  { weight: 2, arbitrary: fc.constantFrom(...TRAPS) },
  { weight: 1, arbitrary: fc.constantFrom(...MORE_TRAPS) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 2 }).map((text) => text.replaceAll('?', '')) },
);
const HOSTILE_PATHS = fc.array(PATH_PARTS, { maxLength: 8 }).map((parts) => `/${parts.join('')}`);

/** Percent-decodes as a careless server does: byte by byte, and without an error for a malformed escape. */
function decodeBytes(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Returns the ambiguities that another server could find in a path that it decoded to this text. */
function ambiguitiesOf(text: string): string[] {
  const ambiguities: string[] = [];
  if (text.includes('\\')) ambiguities.push('backslash');
  if (/[\0-\x1f\x7f]/.test(text)) ambiguities.push('control character');
  const segments = text.slice(1).split('/');
  for (const [index, segment] of segments.entries()) {
    const bare = (/^[^;?#]*/.exec(segment)?.[0] ?? '').trim();
    if (segment === '' && index < segments.length - 1) ambiguities.push('empty segment');
    if (bare === '.' || bare === '..') ambiguities.push('dot segment');
  }
  return ambiguities;
}

function refusalOf(target: string, host: string | null = HOST): string | undefined {
  const refusal = errorOf(() => readRequestTarget(target, host ?? undefined));
  if (refusal === undefined) return undefined;
  expect(refusal).toBeInstanceOf(Refusal);
  expect((refusal as Refusal).status).toBe(400);
  return (refusal as Refusal).code;
}

function errorOf(run: () => unknown): unknown {
  try {
    run();
    return undefined;
  } catch (error) {
    return error;
  }
}
