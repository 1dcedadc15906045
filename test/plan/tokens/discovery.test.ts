import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Listening, startListening } from '../../support/upstream.ts';
import { claims, ecKey, keyFile, tokenOf, verifierFor } from './keys.ts';

const key = ecKey('one');
const token = () => tokenOf({ alg: 'ES256', kid: 'one' }, claims(), key);

let issuer: Listening;
let asked: string[];
/** Responses of the issuer, by path. */
let pages: Record<string, unknown>;

beforeEach(async () => {
  asked = [];
  issuer = await startListening((request, response) => {
    asked.push(request.url ?? '');
    const page = pages[request.url ?? ''];
    if (typeof page === 'function') return page(response);
    response.writeHead(page === undefined ? 404 : 200).end(JSON.stringify(page));
  });
  pages = { '/keys': JSON.parse(keyFile(key)) };
});

afterEach(() => issuer.close());

const OPENID = '/.well-known/openid-configuration';
const OAUTH = '/.well-known/oauth-authorization-server';
const metadata = (changes: object = {}) => ({ issuer: issuer.url, jwks_uri: `${issuer.url}/keys`, ...changes });

/** Returns the result of a valid token for an issuer with metadata at an address. */
async function outcome(address = issuer.url, stated = issuer.url): Promise<unknown> {
  const jwt = { discovery: address, algorithms: ['ES256'], issuer: stated, audience: 'gateway-test' };
  const good = tokenOf({ alg: 'ES256', kid: 'one' }, claims({ iss: stated }), key);
  const verdict = await verifierFor({ jwt }).verify(good);
  return 'code' in verdict ? (verdict.cause ?? verdict.code) : 'accepted';
}

describe('the keys are found', () => {
  test('by the metadata of OpenID Connect', async () => {
    pages[OPENID] = metadata();
    expect(await outcome()).toBe('accepted');
    expect(asked).toEqual([OPENID, '/keys']);
  });

  test('by that of RFC 8414 where there is no other', async () => {
    pages[OAUTH] = metadata();
    expect(await outcome()).toBe('accepted');
    expect(asked).toEqual([OPENID, OAUTH, '/keys']);
  });

  test('behind and before the path of an issuer', async () => {
    const stated = `${issuer.url}/realms/one`;
    for (const address of [stated, `${stated}/`]) {
      asked = [];
      pages[`/realms/one${OPENID}`] = undefined;
      pages[`${OAUTH}/realms/one`] = metadata({ issuer: stated });
      expect(await outcome(address, stated)).toBe('accepted');
      expect(asked).toEqual([`/realms/one${OPENID}`, `${OAUTH}/realms/one`, '/keys']);
      pages[`/realms/one${OPENID}`] = metadata({ issuer: stated });
      expect(await outcome(address, stated)).toBe('accepted');
    }
  });

  test('of an issuer that is reached by another address than its name', async () => {
    pages[OPENID] = metadata({ issuer: 'https://identity.example' });
    expect(await outcome(issuer.url, 'https://identity.example')).toBe('accepted');
  });
});

describe('no key is taken', () => {
  test.each<[string, () => unknown, string]>([
    ['of another issuer', () => metadata({ issuer: 'https://evil.test' }), 'discovery_issuer_wrong'],
    ['of the issuer with a slash', () => metadata({ issuer: `${issuer.url}/` }), 'discovery_issuer_wrong'],
    ['of no issuer', () => metadata({ issuer: undefined }), 'discovery_issuer_wrong'],
    ['of a list of issuers', () => metadata({ issuer: [issuer.url] }), 'discovery_issuer_wrong'],
    ['from nowhere', () => metadata({ jwks_uri: undefined }), 'discovery_jwks_uri_refused'],
    ['from a path', () => metadata({ jwks_uri: '/keys' }), 'discovery_jwks_uri_refused'],
    ['from a list', () => metadata({ jwks_uri: [`${issuer.url}/keys`] }), 'discovery_jwks_uri_refused'],
    ['by plain HTTP from elsewhere', () => metadata({ jwks_uri: 'http://a.test/keys' }), 'discovery_jwks_uri_refused'],
    [
      'from a name that only begins so',
      () => metadata({ jwks_uri: 'http://localhost.a.test/' }),
      'discovery_jwks_uri_refused',
    ],
    [
      'from an address that only ends so',
      () => metadata({ jwks_uri: 'http://a127.0.0.1.nip.io/' }),
      'discovery_jwks_uri_refused',
    ],
    ['from a file', () => metadata({ jwks_uri: 'file:///etc/passwd' }), 'discovery_jwks_uri_refused'],
    [
      'with credentials',
      () => metadata({ jwks_uri: issuer.url.replace('//', '//u:p@') }),
      'discovery_jwks_uri_refused',
    ],
    ['by a list', () => [metadata()], 'discovery_not_an_object'],
    ['by HTML', () => (response: ServerResponse) => response.end('<h1>'), 'response_not_json'],
    [
      'by a name twice',
      () => (response: ServerResponse) => response.end('{"issuer":1,"issuer":2}'),
      'response_not_json',
    ],
    [
      'by a redirect',
      () => (response: ServerResponse) => response.writeHead(302, { location: OAUTH }).end(),
      'discovery_status_302',
    ],
    ['by 500', () => (response: ServerResponse) => response.writeHead(500).end(), 'discovery_status_500'],
    ['by a reset', () => (response: ServerResponse) => response.socket?.resetAndDestroy(), 'ECONNRESET'],
    ['by 300 kB', () => metadata({ filler: 'x'.repeat(300_000) }), 'response_too_long'],
  ])('%s', async (_name, page, cause) => {
    pages[OPENID] = page();
    pages[OAUTH] = metadata();
    expect(await outcome()).toBe(cause);
    expect(asked).toEqual([OPENID]);
  });

  test('where there is no metadata at all', async () => expect(await outcome()).toBe('discovery_not_found'));

  test('by keys that redirect', async () => {
    pages[OPENID] = metadata({ jwks_uri: `${issuer.url}/moved` });
    pages['/moved'] = (response: ServerResponse) => response.writeHead(301, { location: '/keys' }).end();
    expect(await outcome()).toBe('keys_status_301');
    expect(asked).toEqual([OPENID, '/moved']);
  });

  test('after the time for all of it', async () => {
    pages[OPENID] = metadata();
    pages['/keys'] = () => undefined;
    const jwt = { discovery: issuer.url, algorithms: ['ES256'], issuer: issuer.url, audience: 'a', timeout: '300ms' };
    const good = tokenOf({ alg: 'ES256', kid: 'one' }, claims({ iss: issuer.url, aud: 'a' }), key);
    expect(await verifierFor({ jwt }).verify(good)).toEqual({ code: 'keys_unavailable', cause: 'timeout' });
  });
});

test('one question at a time, whoever asks', async () => {
  pages[OPENID] = metadata();
  const jwt = {
    discovery: issuer.url,
    algorithms: ['ES256'],
    issuer: 'https://identity.test',
    audience: 'gateway-test',
  };
  pages[OPENID] = metadata({ issuer: 'https://identity.test' });
  const verifier = verifierFor({ jwt });
  await Promise.all(Array.from({ length: 50 }, () => verifier.verify(token())));
  expect(asked).toEqual([OPENID, '/keys']);
});
