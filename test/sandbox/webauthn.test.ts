import { generateKeyPairSync, hash, sign as signBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Sandbox } from '../../examples/platform/sandbox.ts';
import { createAuthenticatorData, describeCredential } from '../../examples/platform/webauthn.ts';
import { type ApiResponse, request, startSandbox, tokenOf } from './client.ts';

let sandbox: Sandbox;
let token: string;
beforeAll(async () => {
  sandbox = await startSandbox();
  token = await tokenOf(sandbox, 'user@acme.example');
});
afterAll(() => sandbox.close());
beforeEach(() => identity('DELETE /api/v1/mfa/factors/webauthn', undefined));

// biome-ignore lint/suspicious/noExplicitAny: a credential is changed at any place
type Json = any;

const identity = (line: string, json: Json, caller = token) =>
  request(sandbox.identityUrl, line, { token: caller, ...(json !== undefined && { json }) });
const login = async () => {
  const json = { email: 'user@acme.example', password: 'demo-password' };
  return (await request(sandbox.identityUrl, 'POST /api/v1/login', { json })).body;
};
const create = async (caller = token) => {
  const options = (await identity('POST /api/v1/mfa/webauthn/enroll', undefined, caller)).body;
  return (await identity('POST /authenticator/webauthn/create', options)).body;
};
const confirm = (credential: Json) => identity('POST /api/v1/mfa/webauthn/confirm', credential);
const sign = async (challenge: Json) => (await identity('POST /authenticator/webauthn/get', challenge)).body;
const complete = (proof: Json): Promise<ApiResponse> => identity('POST /api/v1/login/mfa/webauthn', proof);

/** Returns a copy of the credential whose client data has other members. */
function withClientData(credential: Json, members: object): Json {
  const data = JSON.parse(Buffer.from(credential.response.clientDataJSON, 'base64url').toString());
  const clientDataJSON = Buffer.from(JSON.stringify({ ...data, ...members })).toString('base64url');
  return { ...credential, response: { ...credential.response, clientDataJSON } };
}

/** Returns a copy of the credential with one byte of a member of its response changed. */
function withOtherByte(credential: Json, member: string, index: number): Json {
  const bytes = Buffer.from(credential.response[member], 'base64url');
  bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index);
  return { ...credential, response: { ...credential.response, [member]: bytes.toString('base64url') } };
}

it('a security key completes a login with each challenge once', async () => {
  const credential = await create();
  expect((await confirm(credential)).body.data).toEqual([{ kind: 'webauthn', confirmed_at: expect.any(String) }]);
  expect(await identity('POST /api/v1/mfa/webauthn/enroll', undefined)).toMatchObject({ status: 409 });
  const challenge = await login();
  expect(challenge.data).toMatchObject({ mfa_required: true, methods: ['webauthn'], webauthn: { rpId: 'localhost' } });
  expect(challenge.data).not.toHaveProperty('access_token');
  const proof = await sign(challenge);
  expect((await complete(proof)).body.data.access_token).toEqual(expect.any(String));
  const replayed = { ...proof, challenge_id: (await login()).data.challenge_id };
  expect(await complete(replayed)).toMatchObject({ status: 401 });
});

it.each<[string, (credential: Json) => Json]>([
  ['another challenge', (credential) => withClientData(credential, { challenge: 'YWJj' })],
  ['the ceremony of a login', (credential) => withClientData(credential, { type: 'webauthn.get' })],
  ['an origin of another host', (credential) => withClientData(credential, { origin: 'https://localhost.example' })],
  ['another relying party', (credential) => withOtherByte(credential, 'authenticatorData', 0)],
  ['an absent user', (credential) => withOtherByte(credential, 'authenticatorData', 32)],
  ['another id', (credential) => ({ ...credential, id: 'YWJj' })],
  ['a long id', (credential) => ({ ...credential, id: 'a'.repeat(100_000) })],
  ['another key', (credential) => withOtherByte(credential, 'authenticatorData', 100)],
  [
    'a key on another curve',
    (credential) => {
      const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
      const spki = publicKey.export({ type: 'spki', format: 'der' }).toString('base64url');
      return { ...credential, response: { ...credential.response, publicKey: spki } };
    },
  ],
  ['no response', ({ id }) => ({ id })],
  ['client data that is not JSON', (credential) => withOtherByte(credential, 'clientDataJSON', 0)],
])('a credential with %s is not enrolled', async (_change, change) => {
  const credential = await create();
  expect(await confirm(change(credential))).toMatchObject({ status: 400 });
  expect((await identity('GET /api/v1/mfa/factors', undefined)).body.data).toEqual([]);
});

it.each<[string, (credential: Json) => Json]>([
  ['another challenge', (credential) => withClientData(credential, { challenge: 'YWJj' })],
  ['the ceremony of an enrolment', (credential) => withClientData(credential, { type: 'webauthn.create' })],
  ['another origin', (credential) => withClientData(credential, { origin: 'http://127.0.0.1.example' })],
  ['other client data', (credential) => withClientData(credential, { crossOrigin: true })],
  ['another relying party', (credential) => withOtherByte(credential, 'authenticatorData', 31)],
  ['an absent user', (credential) => withOtherByte(credential, 'authenticatorData', 32)],
  ['the counter of a copy', (credential) => withOtherByte(credential, 'authenticatorData', 36)],
  ['another signature', (credential) => withOtherByte(credential, 'signature', 20)],
  ['another id', (credential) => ({ ...credential, id: 'YWJj' })],
  ['no response', ({ id }) => ({ id })],
])('an assertion with %s completes no login', async (_change, change) => {
  await confirm(await create());
  const proof = await sign(await login());
  const response = await complete({ ...proof, credential: change(proof.credential) });
  expect([response.status, response.body.message]).toEqual([401, 'invalid credential; log in again']);
});

it('a login needs a present user, and a counter that increases if the key has one', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = Buffer.from('a key of this test');
  /** Returns a credential that this key signs, with these flags and this counter. */
  const credentialOf = (type: string, challenge: string, flags: number, counter: number) => {
    const authenticatorData = createAuthenticatorData(flags, counter, describeCredential(id, publicKey));
    const clientDataJSON = Buffer.from(JSON.stringify({ type, challenge, origin: 'http://localhost:3000' }));
    const signed = Buffer.concat([authenticatorData, Buffer.from(hash('sha256', clientDataJSON), 'hex')]);
    const signature = signBytes('sha256', signed, privateKey);
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const bytes = { authenticatorData, clientDataJSON, signature, publicKey: spki };
    const response = Object.fromEntries(
      Object.entries(bytes).map(([name, value]) => [name, value.toString('base64url')]),
    );
    return { id: id.toString('base64url'), response };
  };
  const { challenge } = (await identity('POST /api/v1/mfa/webauthn/enroll', undefined)).body.data;
  expect(await confirm(credentialOf('webauthn.create', challenge, 0x41, 0))).toMatchObject({ status: 200 });
  const attempt = async (flags: number, counter: number) => {
    const { challenge_id, webauthn } = (await login()).data;
    const credential = credentialOf('webauthn.get', webauthn.challenge, flags, counter);
    return (await complete({ challenge_id, credential })).status;
  };
  expect([await attempt(1, 0), await attempt(1, 0), await attempt(0, 1), await attempt(1, 5)]).toEqual([
    200, 200, 401, 200,
  ]);
  expect([await attempt(1, 5), await attempt(1, 4), await attempt(1, 0), await attempt(1, 6)]).toEqual([
    401, 401, 401, 200,
  ]);
});

it('a key does not complete the login of another account, nor an enrolment that another account began', async () => {
  const admin = await tokenOf(sandbox, 'admin@acme.example');
  expect(await confirm(await create(admin))).toMatchObject({ status: 400 });
  await confirm(await create());
  const json = { email: 'mfa@acme.example', password: 'demo-password' };
  const { challenge_id } = (await request(sandbox.identityUrl, 'POST /api/v1/login', { json })).body.data;
  const proof = await sign(await login());
  expect(await complete({ ...proof, challenge_id })).toMatchObject({ status: 401 });
});
