import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import { createPair, type Pair } from '../../support/certificate.ts';
import { worldOf } from '../../support/gateway.ts';

function loadWith(server: string, files: Record<string, string> = {}) {
  const text = `version: 1
server: ${server}
upstreams: { up: { url: 'http://127.0.0.1:1' } }
routes:
  - { id: a, method: GET, path: /a, upstream: up, access: public }
`;
  return load({ path: 'gateway.yaml', text }, worldOf({}, files));
}

function rulesOf(server: string, files?: Record<string, string>) {
  const { plan, problems } = loadWith(server, files);
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  return plan.server;
}

describe('server settings', () => {
  it('have defaults that work behind the load balancers of the large clouds', () => {
    expect(rulesOf('{}')).toMatchObject({
      tls: undefined,
      trustedProxies: undefined,
      headersTimeoutMs: 20_000,
      requestTimeoutMs: 300_000,
      keepAliveTimeoutMs: 620_000,
      stalledTimeoutMs: 60_000,
      headerLimitBytes: 16_384,
      maxHeaders: 100,
      maxConnections: 10_000,
      maxRequestsPerConnection: 10_000,
    });
  });

  it('limit the headers timeout to the request timeout', () => {
    expect(rulesOf('{ timeouts: { request: 5s } }')).toMatchObject({
      headersTimeoutMs: 5_000,
      requestTimeoutMs: 5_000,
    });
  });
});

describe('trusted proxies', () => {
  const trusts = rulesOf(
    '{ trustedProxies: [10.0.0.0/8, 192.0.2.7, "fd00::/8", "::1", 172.16.0.0/12] }',
  ).trustedProxies;

  it.each([
    ['10.0.0.0', true],
    ['10.255.255.255', true],
    ['11.0.0.0', false],
    ['9.255.255.255', false],
    ['192.0.2.7', true],
    ['192.0.2.8', false],
    ['172.31.255.255', true],
    ['172.32.0.0', false],
    ['::ffff:10.0.0.1', true],
    ['::ffff:a00:1', true],
    ['::ffff:11.0.0.1', false],
    ['::1', true],
    ['::2', false],
    ['fd12:3456::1', true],
    ['fe80::1', false],
    ['fe80::1%eth0', false],
    ['10.0.0.1.', false],
    ['', false],
    ['localhost', false],
  ])('%j: %s', (address, expected) => {
    expect(trusts?.(address)).toBe(expected);
  });
});

describe('a certificate and its key', () => {
  const pair = createPair();
  const other = createPair();
  const secured = '{ tls: { certificate: c.pem, key: k.pem } }';
  const files = ({ certificate, key }: Pair) => ({ 'c.pem': certificate, 'k.pem': key });
  const locked = createPrivateKey(pair.key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'secret',
  });
  const weak = generateKeyPairSync('rsa', { modulusLength: 512 }).privateKey.export({ type: 'pkcs8', format: 'pem' });

  it('are read, and never printed with the plan', () => {
    const { plan } = loadWith(secured, files(pair));
    expect(plan?.server.tls?.pem()).toEqual({ cert: pair.certificate, key: pair.key });
    const [, secret = '?'] = pair.key.split('\n');
    for (const print of [JSON.stringify(plan), inspect(plan, { depth: null, showHidden: true })])
      expect(print).not.toContain(secret);
  });

  it('may be in one file, with the chain of the certificate', () => {
    const all = pair.certificate + other.certificate + pair.key;
    expect(rulesOf(secured, { 'c.pem': all, 'k.pem': all }).tls).toBeDefined();
  });

  it('are accepted if the certificate has expired', () => {
    expect(rulesOf(secured, files(createPair({ days: -1 }))).tls).toBeDefined();
  });

  it.each([
    ['no certificate', { ...pair, certificate: 'nothing' }, ['certificate: this file contains no certificate in PEM']],
    ['no key', { ...pair, key: '' }, ['key: this file contains no private key in PEM']],
    ['a locked key', { ...pair, key: String(locked) }, ['key: this file contains no private key in PEM']],
    ['one for the other', { certificate: pair.key, key: pair.certificate }, ['certificate: ', 'key: ']],
    ['the key of another', { ...pair, key: other.key }, ['key: this key does not belong to the certificate']],
    ['a key of another kind', { ...pair, key: String(weak) }, ['key: this key does not belong to the certificate']],
    [
      'a broken chain',
      { ...pair, certificate: `${pair.certificate}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n` },
      ['certificate: certificate 2 of 2 in this file is damaged'],
    ],
  ])('are refused at their positions without quoting the files: %s', (_what, given, expected) => {
    const { plan, problems } = loadWith(secured, files(given));
    expect(plan).toBeUndefined();
    const messages = problems.map(({ message, range }) => `${range.column === 31 ? 'certificate' : 'key'}: ${message}`);
    expect(messages).toHaveLength(expected.length);
    for (const [index, start] of expected.entries()) expect(messages[index]).toContain(start);
    for (const text of Object.values(given))
      for (const line of text.split('\n').filter(({ length }) => length > 20))
        expect(JSON.stringify(problems)).not.toContain(line);
  });

  it('are each reported if they cannot be read', () => {
    const { problems } = loadWith(secured, {});
    expect(problems.map(({ message }) => message)).toEqual(
      Array(2).fill('the file cannot be read: it does not exist; write a path relative to the manifest'),
    );
  });
});

describe('a load result', () => {
  it('has the hashes of the named files, even if the manifest does not load', () => {
    const { certificate, key } = createPair();
    const good = loadWith('{ tls: { certificate: c.pem, key: k.pem } }', { 'c.pem': certificate, 'k.pem': key });
    expect([...good.files.keys()]).toEqual(['c.pem', 'k.pem']);
    const bad = loadWith('{ tls: { certificate: c.pem, key: k.pem } }', { 'c.pem': certificate });
    expect(bad.plan).toBeUndefined();
    expect([...bad.files]).toEqual([
      ['c.pem', good.files.get('c.pem')],
      ['k.pem', ''],
    ]);
    expect(loadWith('{}').files.size).toBe(0);
  });
});
