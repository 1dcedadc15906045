import { describe, expect, it } from 'vitest';
import { hostError } from '../../../src/engine/settings/address.ts';
import { loadText, manifestOf } from '../../manifest/support.ts';

const VALID = [
  '127.0.0.1',
  '10.255.0.255',
  '0.0.0.0',
  '169.254.1.1',
  '::1',
  '[::]',
  '[2001:db8::1]',
  '::ffff:127.0.0.1',
  'localhost',
  'contacts.internal',
  'contacts.internal.',
  'my_service',
  'a1',
  '1a.b2',
  'xn--mnchen-3ya',
  '1.2.example',
  '127.0.0.1.nip.io',
  '1.0.0.internal',
  'a'.repeat(63),
];

const INVALID = [
  '999.1.1.1',
  '256.0.0.1',
  '127.1',
  '1.2.3.4.5',
  '0',
  '0x7f.1',
  '127.0.0.01',
  'a.1',
  '127.0.0.1.',
  '127.0.0.x',
  '10.0.0.1O',
  '192.168.178.l',
  '192.168.178.123a',
  '[::g]',
  '[1::2::3]',
  '[]',
  '[127.0.0.1]',
  '[fe80::1]',
  'febf::1',
  '224.0.0.1',
  '[ff02::1]',
  '255.255.255.255',
  '',
  '.',
  '-',
  'a-',
  '-a.b',
  'a..b',
  '.a',
  'a!',
  'a,b',
  '{host}',
  'a'.repeat(64),
  `${'a'.repeat(60)}.`.repeat(5),
];

describe('a host', () => {
  it.each(VALID)('%j can be connected to', (host) => expect(hostError(host)).toBeUndefined());

  it.each(INVALID)('%j is an error', (host) => expect(hostError(host)).toMatch(/^[a-zA-Z]/));
});

describe('a host that no connection can use is an error at its place', () => {
  const messagesOf = (above: string, url = 'http://127.0.0.1:7002') =>
    loadText(manifestOf(above).replace('http://127.0.0.1:7002', `'${url}'`)).problems.map(
      ({ range, rule, message }) => `${range.line}:${range.column} ${rule} ${message}`,
    );

  it.each([
    ["listen: '[1.2.3.4]:80'\n", '4:9 address this is not an IPv6 address'],
    ["listen: '999.1.1.1:80'\n", '4:9 address this is not an IPv4 address, which is four numbers from 0 to 255'],
    ["listen: '127.0.0.x:80'\n", '4:9 address this is not an IPv4 address, which is four numbers from 0 to 255'],
    ["admin: '[fe80::1]:80'\n", '4:8 address a link-local address needs a zone, and a manifest cannot contain one'],
    [
      "listen: 'a..b:80'\n",
      '4:9 address this is not a host name, which has letters, digits and hyphens between its dots',
    ],
  ])('in %j', (above, expected) =>
    expect(messagesOf(above)).toEqual([`${expected}; write for example 127.0.0.1:8080 or [::1]:8080`]),
  );

  it.each([
    ['http://127.0.0.1:0', 'no server has port 0'],
    ['http://a!b', 'this is not a host name, which has letters, digits and hyphens between its dots'],
    ['http://[ff02::1]', 'TCP has no multicast and broadcast addresses'],
  ])('in the URL %s of an upstream', (url, reason) =>
    expect(messagesOf('', url)).toEqual([
      `3:20 upstream-url ${reason}; write scheme, host and port, such as http://127.0.0.1:7001, or unix:/run/app.sock`,
    ]),
  );
});

describe('the admin API and the gateway', () => {
  const isError = (listen: string, admin: string) => {
    const { problems } = loadText(manifestOf(`listen: '${listen}'\nadmin: { listen: '${admin}', token: '\${T}' }\n`), {
      T: 'a'.repeat(16),
    });
    expect(problems.map(({ rule }) => rule)).toEqual(problems.length === 0 ? [] : ['listen-twice']);
    return problems.length > 0;
  };

  it.each([
    ['127.0.0.1:80', '127.0.0.1:80'],
    ['0.0.0.0:80', '127.0.0.1:80'],
    ['127.0.0.1:80', '0.0.0.0:80'],
    ['[::]:80', '127.0.0.1:80'],
    ['[::]:80', 'admin.internal:80'],
    ['[::]:80', '[::1]:80'],
    ['[0:0:0:0:0:0:0:1]:80', '[::1]:80'],
    ['[::ffff:127.0.0.1]:80', '127.0.0.1:80'],
    ['localhost:80', '127.0.0.1:80'],
    ['a.localhost:80', '[::1]:80'],
    ['gateway.internal:80', 'GATEWAY.internal:80'],
  ])('cannot listen on %s and %s', (listen, admin) => expect(isError(listen, admin)).toBe(true));

  it.each([
    ['127.0.0.1:80', '127.0.0.1:81'],
    ['127.0.0.1:0', '127.0.0.1:0'],
    ['127.0.0.1:80', '127.0.0.2:80'],
    ['127.0.0.1:80', '[::1]:80'],
    ['0.0.0.0:80', '[::1]:80'],
    ['gateway.internal:80', 'admin.internal:80'],
  ])('listen on %s and %s', (listen, admin) => expect(isError(listen, admin)).toBe(false));
});
