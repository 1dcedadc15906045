import { describe, expect, test } from 'vitest';
import { isLoopback, isProtectedInTransit } from '../src/engine/dns/loopback.ts';
import { compileAddress } from '../src/engine/settings/address.ts';

describe('a loopback host', () => {
  test.each([
    '127.0.0.1',
    '127.255.0.9',
    '::1',
    '[::1]',
    'localhost',
    'localhost.',
    'LOCALHOST',
    'idp.localhost',
    'a.b.localhost.',
  ])('is %s', (host) => expect(isLoopback(host)).toBe(true));

  test.each([
    '',
    '128.0.0.1',
    '127.0.0.1.example',
    '127.999.0.1',
    '0.0.0.0',
    '::',
    '::2',
    'localhost.example',
    'mylocalhost',
    '.localhost',
    'localhost..',
  ])('is not %j', (host) => expect(isLoopback(host)).toBe(false));
});

test('traffic to a URL is protected by TLS or by the loopback interface', () => {
  const urls = ['https://a.example', 'http://a.localhost:1', 'http://[::1]/', 'http://a.example'];
  expect(urls.map((url) => isProtectedInTransit(new URL(url)))).toEqual([true, true, true, false]);
});

test('a listener at a name under localhost binds to localhost, which the system does not look up at a name server', () => {
  expect(compileAddress('admin.localhost:9901', [], [])).toEqual({ host: 'localhost', port: 9901 });
});
