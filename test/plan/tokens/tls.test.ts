import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createPair } from '../../support/certificate.ts';
import { introspecting, outcomeOf, sendJson } from './asking.ts';
import { claims, ecKey, keyFile, startKeysServer, tokenOf, verifierOf } from './keys.ts';

const key = ecKey('one');
const { certificate, key: privateKey } = createPair();
const usual = getCACertificates();
const trust = () => setDefaultCACertificates([...usual, certificate]);

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

afterEach(() => setDefaultCACertificates(usual));

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const good = () => tokenOf({ alg: 'ES256', kid: 'one' }, claims({ iss: url() }), key);

test('an issuer whose certificate nobody vouches for gives no answer', async () => {
  const refused = { code: 'keys_unavailable', cause: 'DEPTH_ZERO_SELF_SIGNED_CERT' };
  expect(await verifierOf({ jwks: `${url()}/keys`, issuer: url() }).verify(good())).toEqual(refused);
  expect(await introspecting(url()).verify('token')).toEqual(refused);
});

test('one whose certificate is vouched for does', async () => {
  trust();
  jwksUri = `${url()}/keys`;
  expect(await outcomeOf(verifierOf({ jwks: `${url()}/keys`, issuer: url() }), good())).toBe('accepted');
  expect(await outcomeOf(verifierOf({ discovery: url(), issuer: url() }), good())).toBe('accepted');
  expect(await outcomeOf(introspecting(url()), 'token')).toBe('accepted');
});

test('metadata that came by TLS does not lead away from it', async () => {
  trust();
  const plain = await startKeysServer(key);
  jwksUri = plain.url;
  expect(await verifierOf({ discovery: url(), issuer: url() }).verify(good())).toEqual({
    code: 'keys_unavailable',
    cause: 'discovery_jwks_uri_refused',
  });
  expect(plain.asked).toBe(0);
  await plain.close();
});
