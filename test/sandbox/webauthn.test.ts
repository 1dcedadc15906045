import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
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

it('a key does not complete the login of another account, nor an enrolment that another account began', async () => {
  const admin = await tokenOf(sandbox, 'admin@acme.example');
  expect(await confirm(await create(admin))).toMatchObject({ status: 400 });
  await confirm(await create());
  const json = { email: 'mfa@acme.example', password: 'demo-password' };
  const { challenge_id } = (await request(sandbox.identityUrl, 'POST /api/v1/login', { json })).body.data;
  const proof = await sign(await login());
  expect(await complete({ ...proof, challenge_id })).toMatchObject({ status: 401 });
});
