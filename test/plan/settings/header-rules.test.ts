import { describe, expect, test } from 'vitest';
import { loadText, manifestOf, problemOf } from '../../manifest/support.ts';

type Side = 'request' | 'response';

function withRules(side: Side, rules: object): string {
  // JSON does not escape U+007F, and the manifest refuses it unescaped.
  const entry = `${side}Headers: ${JSON.stringify(rules).replaceAll('\x7f', '\\u007f')}`;
  return manifestOf('', `  - { id: r, method: GET, path: /r, upstream: contacts, access: public, ${entry} }\n`);
}

/** Returns the messages about header rules, without their locations. */
function messageOf(side: Side, rules: object, env: Record<string, string> = {}): string {
  return problemOf(withRules(side, rules), env).replace(/^\S+ /, '');
}

function rulesOf(side: Side, rules: object, env: Record<string, string> = {}) {
  const { plan, problems } = loadText(withRules(side, rules), env);
  expect(problems).toEqual([]);
  return plan?.routes[0]?.[`${side}Headers`];
}

const BOTH = [
  'Connection',
  'keep-alive',
  'Proxy-Connection',
  'TE',
  'Upgrade',
  'HTTP2-Settings',
  'transfer-encoding',
  'Content-Length',
  'Trailer',
  'Content-Encoding',
  'Sec-WebSocket-Key',
  'sec-websocket-accept',
];
const REQUEST = [
  'Authorization',
  'authorization',
  'Host',
  'Expect',
  'Content-Type',
  'Forwarded',
  'X-Forwarded-For',
  'x-forwarded-anything',
  'X-Request-Id',
];
/** Spellings that some servers read as one of them. */
const SPELLINGS = [
  'Content_Length',
  'X_Forwarded_For',
  'x.request.id',
  'Transfer_Encoding',
  'Sec_WebSocket_Key',
  'X-Forwarded_Host',
];

describe('a reserved header', () => {
  const cases = [
    ...BOTH.flatMap((name) => [['request', name] as const, ['response', name] as const]),
    ...[...REQUEST, ...SPELLINGS].map((name) => ['request', name] as const),
  ];
  test.each(cases)('of a %s: %s', (side, name) => {
    const reason = new RegExp(`^a manifest cannot change "${name}": [^;]+; remove it$`);
    expect(messageOf(side, { set: { [name]: 'x' } })).toMatch(reason);
    expect(messageOf(side, { remove: [name] })).toMatch(reason);
  });

  test.each(['Content-Type', 'Set-Cookie', 'Server', 'X-Request-Id', 'Content_Length', 'WWW-Authenticate'])(
    'does not include %s in responses',
    (name) => {
      expect(rulesOf('response', { set: { [name]: 'x' } })?.set).toEqual([name, 'x']);
      expect(rulesOf('response', { remove: [name] })?.drops(name)).toBe(true);
    },
  );

  test.each(['__proto__', 'constructor', 'toString', 'Cookie', 'X-Authorization', 'X-Host'])(
    'does not include %s in requests',
    (name) => {
      expect(rulesOf('request', { remove: [name] })?.drops(name)).toBe(true);
    },
  );
});

describe('a header name', () => {
  test.each(['', ' ', 'X Platform', 'X:', 'X\n', 'X\r\nY', 'Ä', 'X(', '"X"', 'X/'])('%j is invalid', (name) => {
    const message = 'this is not a header name; write letters, digits and hyphens, such as X-Platform';
    expect(messageOf('request', { remove: [name] })).toBe(message);
    expect(messageOf('response', { set: { [name]: 'x' } })).toBe(message);
  });

  test.each([
    ['request', { set: { 'X-A': '1', 'x-a': '2' } }, 'x-a'],
    ['request', { set: { 'X-A': '1', X_A: '2' } }, 'X_A'],
    ['request', { remove: ['X-A', 'x.a'] }, 'x.a'],
    ['response', { remove: ['Server', 'server'] }, 'server'],
    ['response', { set: { Server: 'x' }, remove: ['SERVER'] }, 'SERVER'],
  ] as const)('of a %s must not repeat: %j', (side, rules, name) => {
    expect(messageOf(side, rules)).toBe(
      `"${name}" appears twice; "set" already replaces the header, so remove one of them`,
    );
  });

  test('of a response does not match other spellings', () => {
    expect(rulesOf('response', { remove: ['X-A', 'X_A'] })?.drops('x.a')).toBe(false);
  });
});

describe('a header value', () => {
  test.each([' x', 'x ', '\tx', 'a\nb', 'a\r\nX-B: 1', 'a\0b', 'a\x7fb', 'café', 'a\u2028b', ' '])(
    '%j is invalid',
    (value) => {
      const message = 'this is not a header value; write visible ASCII on one line, without white space at either end';
      expect(messageOf('response', { set: { 'X-A': value } })).toBe(message);
    },
  );

  test.each(['', 'x', 'max-age=31536000; includeSubDomains', 'a\tb', '"quoted", \\ ~!'])('%j is valid', (value) => {
    expect(rulesOf('response', { set: { 'X-A': value } })?.set).toEqual(['X-A', value]);
  });

  test('from the environment is not printed', () => {
    const rules = { set: { 'X-Key': `\${KEY}` } };
    expect(rulesOf('request', rules, { KEY: 'k-1' })?.set).toEqual(['X-Key', 'k-1']);
    expect(messageOf('request', rules, { KEY: 'secret\r\nX-Other: 1' })).not.toContain('secret');
  });

  test('must be a string', () => {
    expect(messageOf('request', { set: { 'X-A': 1 } })).toBe('1 is not a header value; put it in quotes');
  });
});

test('a request loses every spelling of the set and removed headers, and no other header', () => {
  const rules = rulesOf('request', { set: { 'X-Platform': 'a' }, remove: ['X_Debug'] });
  for (const name of ['X-Platform', 'x-platform', 'X_PLATFORM', 'x.platform', 'X-Debug', 'x_debug', 'x~debug'])
    expect([name, rules?.drops(name)]).toEqual([name, true]);
  for (const name of ['X-Platforms', 'XPlatform', 'X-Platfor', 'X--Debug', 'Debug', 'X-Debuk', ''])
    expect([name, rules?.drops(name)]).toEqual([name, false]);
});

test('a route without header rules has none', () => {
  const [route] = loadText(manifestOf()).plan?.routes ?? [];
  expect([route?.requestHeaders, route?.responseHeaders]).toEqual([undefined, undefined]);
  expect(rulesOf('response', {})?.set).toEqual([]);
});
