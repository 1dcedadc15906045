import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createPair } from '../../support/certificate.ts';
import { introspecting, outcomeOf, sendJson } from './identity-service.ts';
import { claims, ecKey, keyFile, startKeysServer, tokenOf, verifierOf } from './keys.ts';

const key = ecKey('one');
const { certificate, key: privateKey } = createPair();
const systemAuthorities = getCACertificates();
const trust = () => setDefaultCACertificates([...systemAuthorities, certificate]);

let jwksUri = '';
const server = createServer({ cert: certificate, key: privateKey }, (request, response) => {
  if (request.url === '/introspect') return sendJson(response, { active: true });
  const isMetadata = request.url?.startsWith('/.well-known/');
  sendJson(response, isMetadata ? { issuer: url(), jwks_uri: jwksUri } : keyFile(key));
});
const url = () => `https://localhost:${(server.address() as AddressInfo).port}`;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(() => setDefaultCACertificates(systemAuthorities));

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const good = () => tokenOf({ alg: 'ES256', kid: 'one' }, claims({ iss: url() }), key);

test('rejects an issuer whose certificate is not trusted', async () => {
  const refused = { code: 'keys_unavailable', cause: 'DEPTH_ZERO_SELF_SIGNED_CERT' };
  expect(await verifierOf({ jwks: `${url()}/keys`, issuer: url() }).verify(good())).toEqual(refused);
  expect(await introspecting(url()).verify('token')).toEqual(refused);
});

test('accepts an issuer whose certificate is trusted', async () => {
  trust();
  jwksUri = `${url()}/keys`;
  expect(await outcomeOf(verifierOf({ jwks: `${url()}/keys`, issuer: url() }), good())).toBe('accepted');
  expect(await outcomeOf(verifierOf({ discovery: url(), issuer: url() }), good())).toBe('accepted');
  expect(await outcomeOf(introspecting(url()), 'token')).toBe('accepted');
});

test('refuses plain HTTP keys from metadata that was fetched over TLS', async () => {
  trust();
  const plain = await startKeysServer(key);
  jwksUri = plain.url;
  expect(await verifierOf({ discovery: url(), issuer: url() }).verify(good())).toEqual({
    code: 'keys_unavailable',
    cause: 'discovery_jwks_uri_refused',
  });
  expect(plain.requestCount).toBe(0);
  await plain.close();
});
