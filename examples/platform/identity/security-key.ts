import { createPrivateKey, generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';
import { type Fields, textField } from '../fields.ts';
import { jsonBody, type SandboxRequest, type SandboxRoute } from '../request.ts';
import { requireFound, SandboxError, type SandboxResponse } from '../response.ts';
import {
  type CeremonyType,
  createAttestationObject,
  createAuthenticatorData,
  describeCredential,
  HAS_CREDENTIAL,
  RP_ID,
  USER_PRESENT,
} from '../webauthn.ts';

/**
 * Routes that stand in for a browser with a security key. Their bodies are the responses of the routes that state a challenge, and
 * their responses are the bodies of the routes that expect its signature, so that commands can be piped.
 */
export const securityKeyRoutes: readonly SandboxRoute[] = [
  [
    'POST /authenticator/webauthn/create',
    'public',
    createCredential,
    { summary: 'Create a security key, as a browser does', body: jsonBody({ data: { challenge: 'the challenge' } }) },
  ],
  [
    'POST /authenticator/webauthn/get',
    'public',
    signChallenge,
    {
      summary: 'Sign the challenge of a login with a security key',
      body: jsonBody({
        data: { challenge_id: 'the challenge_id of the login', webauthn: { challenge: 'the challenge' } },
      }),
    },
  ],
];

function createCredential({ store, fields }: SandboxRequest): SandboxResponse {
  const clientData = createClientData('webauthn.create', memberOf(fields, 'data'));
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const idBytes = randomBytes(16);
  const id = idBytes.toString('base64url');
  store.insert('security_key', { id, private_pem: privateKey.export({ type: 'pkcs8', format: 'pem' }), counter: 0 });
  const flags = USER_PRESENT | HAS_CREDENTIAL;
  const authenticatorData = createAuthenticatorData(flags, 0, describeCredential(idBytes, publicKey));
  return credentialResponse(id, {
    clientDataJSON: clientData,
    authenticatorData,
    attestationObject: createAttestationObject(authenticatorData),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
  });
}

function signChallenge({ store, fields }: SandboxRequest): SandboxResponse {
  const login = memberOf(fields, 'data');
  const options = memberOf(login, 'webauthn');
  const clientData = createClientData('webauthn.get', options);
  const allowed = Array.isArray(options['allowCredentials']) ? options['allowCredentials'] : [];
  const keyId = textField(Object(allowed[0]), 'id');
  const use = 'UPDATE security_key SET counter = counter + 1 WHERE id = ? RETURNING private_pem, counter';
  const key = requireFound(store.one<{ private_pem: string; counter: number }>(use, keyId), 'security key');
  const authenticatorData = createAuthenticatorData(USER_PRESENT, key.counter);
  const signed = Buffer.concat([authenticatorData, Buffer.from(hash('sha256', clientData), 'hex')]);
  const signature = sign('sha256', signed, createPrivateKey(key.private_pem));
  const { body } = credentialResponse(keyId, { clientDataJSON: clientData, authenticatorData, signature });
  return { status: 200, body: { challenge_id: textField(login, 'challenge_id'), credential: body } };
}

function memberOf(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (typeof value !== 'object' || value === null) throw new SandboxError(400, `"${name}" must be an object`);
  return value as Fields;
}

function createClientData(type: CeremonyType, options: Fields): Buffer {
  const challenge = textField(options, 'challenge');
  return Buffer.from(JSON.stringify({ type, challenge, origin: `http://${RP_ID}`, crossOrigin: false }));
}

function credentialResponse(id: string, bytes: Readonly<Record<string, Buffer>>): SandboxResponse {
  const response = Object.fromEntries(
    Object.entries(bytes).map(([name, value]) => [name, value.toString('base64url')]),
  );
  return { status: 200, body: { id, rawId: id, type: 'public-key', response, clientExtensionResults: {} } };
}
