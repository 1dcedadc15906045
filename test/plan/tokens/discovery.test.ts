import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startUpstreamServer, type UpstreamServer } from '../../support/upstream.ts';
import { claims, ecKey, keyFile, tokenOf, verifierFor } from './keys.ts';

const key = ecKey('one');
const token = () => tokenOf({ alg: 'ES256', kid: 'one' }, claims(), key);

let issuer: UpstreamServer;
let requestedPaths: string[];
/** Responses of the issuer, by path. */
let pages: Record<string, unknown>;

beforeEach(async () => {
  requestedPaths = [];
  issuer = await startUpstreamServer((request, response) => {
    requestedPaths.push(request.url ?? '');
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
async function outcome(address = issuer.url, issuerName = issuer.url): Promise<unknown> {
  const jwt = { discovery: address, algorithms: ['ES256'], issuer: issuerName, audience: 'gateway-test' };
  const good = tokenOf({ alg: 'ES256', kid: 'one' }, claims({ iss: issuerName }), key);
  const verdict = await verifierFor({ jwt }).verify(good);
  return 'code' in verdict ? (verdict.cause ?? verdict.code) : 'accepted';
}

describe('discovery finds the keys', () => {
  test('in the metadata of OpenID Connect', async () => {
    pages[OPENID] = metadata();
    expect(await outcome()).toBe('accepted');
    expect(requestedPaths).toEqual([OPENID, '/keys']);
  });

  test('in the metadata of RFC 8414 if there is no other', async () => {
    pages[OAUTH] = metadata();
    expect(await outcome()).toBe('accepted');
    expect(requestedPaths).toEqual([OPENID, OAUTH, '/keys']);
  });

  test('of an issuer with a path, in both forms of the address', async () => {
    const issuerName = `${issuer.url}/realms/one`;
    for (const address of [issuerName, `${issuerName}/`]) {
      requestedPaths = [];
      pages[`/realms/one${OPENID}`] = undefined;
      pages[`${OAUTH}/realms/one`] = metadata({ issuer: issuerName });
      expect(await outcome(address, issuerName)).toBe('accepted');
      expect(requestedPaths).toEqual([`/realms/one${OPENID}`, `${OAUTH}/realms/one`, '/keys']);
      pages[`/realms/one${OPENID}`] = metadata({ issuer: issuerName });
      expect(await outcome(address, issuerName)).toBe('accepted');
    }
  });

  test('of an issuer whose address differs from its name', async () => {
    pages[OPENID] = metadata({ issuer: 'https://identity.example' });
    expect(await outcome(issuer.url, 'https://identity.example')).toBe('accepted');
  });
});

describe('discovery refuses keys', () => {
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
      'by metadata with a duplicate name',
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
    expect(requestedPaths).toEqual([OPENID]);
  });

  test('without metadata', async () => expect(await outcome()).toBe('discovery_not_found'));

  test('behind a redirect', async () => {
    pages[OPENID] = metadata({ jwks_uri: `${issuer.url}/moved` });
    pages['/moved'] = (response: ServerResponse) => response.writeHead(301, { location: '/keys' }).end();
    expect(await outcome()).toBe('keys_status_301');
    expect(requestedPaths).toEqual([OPENID, '/moved']);
  });

  test('after the timeout of the complete discovery', async () => {
    pages[OPENID] = metadata();
    pages['/keys'] = () => undefined;
    const jwt = { discovery: issuer.url, algorithms: ['ES256'], issuer: issuer.url, audience: 'a', timeout: '300ms' };
    const good = tokenOf({ alg: 'ES256', kid: 'one' }, claims({ iss: issuer.url, aud: 'a' }), key);
    expect(await verifierFor({ jwt }).verify(good)).toEqual({ code: 'keys_unavailable', cause: 'timeout' });
  });
});

test('fifty concurrent tokens cause one discovery', async () => {
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
  expect(requestedPaths).toEqual([OPENID, '/keys']);
});
