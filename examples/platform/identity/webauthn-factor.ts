import { createPublicKey, hash, randomBytes, verify } from 'node:crypto';
import { recordAuditEvent } from '../audit.ts';
import { type Fields, textField } from '../fields.ts';
import type { AuthenticatedRequest, SandboxRoute, SandboxUser } from '../request.ts';
import { dataResponse, SandboxError, type SandboxResponse } from '../response.ts';
import { now, type Store } from '../store.ts';
import {
  type CeremonyType,
  challengeOf,
  containsCredential,
  describeCredential,
  HAS_CREDENTIAL,
  parseAuthenticatorData,
  RP_ID,
  readPublicKey,
  USER_PRESENT,
} from '../webauthn.ts';
import { listFactors } from './factors.ts';
import { redeemCode, storeCode } from './one-time-codes.ts';

/** Routes of the WebAuthn factor: a security key that signs a challenge. Bodies are those of `PublicKeyCredential.toJSON`. */
export const webauthnRoutes: readonly SandboxRoute[] = [
  ['POST /api/v1/mfa/webauthn/enroll', 'protected', enrolWebauthn, { summary: 'Enrol a security key', status: 201 }],
  [
    'POST /api/v1/mfa/webauthn/confirm',
    'protected',
    confirmWebauthn,
    {
      summary: 'Confirm a security key',
      body: { 'application/json': { id: 'the id', type: 'public-key', response: {} } },
    },
  ],
];

/** 1023 bytes in base64url. */
const MAX_ID_LENGTH = 1364;

/** Returns the options for `navigator.credentials.get`, with a new challenge. */
export function createLoginOptions(store: Store, account: SandboxUser): object {
  const { id } = readCredential(store, account) ?? {};
  const challenge = createChallenge(store, account, 'WebAuthn login');
  return { challenge, rpId: RP_ID, allowCredentials: [{ type: 'public-key', id }], userVerification: 'discouraged' };
}

/** True if the credential of the account signed the challenge, and its counter is not that of a copy. */
export function redeemAssertion(store: Store, account: SandboxUser, assertion: Fields): boolean {
  const stored = readCredential(store, account);
  const { clientData, authenticatorData, signature } = readSignedBytes(assertion);
  const data = parseAuthenticatorData(authenticatorData);
  if (stored === undefined || data === undefined || (data.flags & USER_PRESENT) === 0) return false;
  // Authenticators without a counter always send 0.
  const isCopy = (data.counter !== 0 || stored.counter !== 0) && data.counter <= stored.counter;
  if (assertion['id'] !== stored.id || isCopy) return false;
  if (!redeemChallenge(store, account, clientData, 'webauthn.get')) return false;
  const signed = Buffer.concat([authenticatorData, Buffer.from(hash('sha256', clientData), 'hex')]);
  const key = createPublicKey({ key: Buffer.from(stored.public_key), format: 'der', type: 'spki' });
  if (!verify('sha256', signed, key, signature)) return false;
  return store.run('UPDATE webauthn_credential SET counter = ? WHERE id = ?', data.counter, stored.id) === 1;
}

interface StoredCredential {
  readonly id: string;
  readonly public_key: Uint8Array;
  readonly counter: number;
}

function readCredential(store: Store, { id }: SandboxUser): StoredCredential | undefined {
  return store.one<StoredCredential>(
    'SELECT id, public_key, counter FROM webauthn_credential WHERE account_id = ?',
    id,
  );
}

function createChallenge(store: Store, user: SandboxUser, purpose: 'WebAuthn enrolment' | 'WebAuthn login'): string {
  const challenge = randomBytes(32).toString('base64url');
  storeCode(store, user, purpose, challenge);
  return challenge;
}

function redeemChallenge(store: Store, user: SandboxUser, clientData: Buffer, type: CeremonyType): boolean {
  const purpose = type === 'webauthn.create' ? 'WebAuthn enrolment' : 'WebAuthn login';
  const challenge = challengeOf(clientData, type);
  return challenge !== undefined && redeemCode(store, user, purpose, challenge);
}

/** Returns the options for `navigator.credentials.create`. Throws 409 if the account has a key. */
function enrolWebauthn({ store, user }: AuthenticatedRequest): SandboxResponse {
  if (readCredential(store, user) !== undefined)
    throw new SandboxError(409, 'the account already has a confirmed factor');
  recordAuditEvent(store, user, 'factor.enrol', user.id);
  const options = {
    challenge: createChallenge(store, user, 'WebAuthn enrolment'),
    rp: { id: RP_ID, name: 'Signing sandbox' },
    user: { id: Buffer.from(user.id).toString('base64url'), name: user.email, displayName: user.email },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
    attestation: 'none',
  };
  return dataResponse(options, 201);
}

function confirmWebauthn(request: AuthenticatedRequest): SandboxResponse {
  const { store, user, fields } = request;
  const { clientData, authenticatorData, publicKey } = readSignedBytes(fields);
  const id = textField(fields, 'id');
  if (id.length > MAX_ID_LENGTH) throw new SandboxError(400, `"id" has more than ${MAX_ID_LENGTH} characters`);
  const key = readPublicKey(publicKey);
  const flags = parseAuthenticatorData(authenticatorData)?.flags ?? 0;
  // Without an attestation nobody else vouches for the key, but it must be the one that the authenticator created.
  const isComplete = (flags & USER_PRESENT) !== 0 && (flags & HAS_CREDENTIAL) !== 0;
  const described = key && describeCredential(Buffer.from(id, 'base64url'), key);
  const isDescribed = described !== undefined && containsCredential(authenticatorData, described);
  if (!isComplete || !isDescribed || !redeemChallenge(store, user, clientData, 'webauthn.create'))
    throw new SandboxError(400, 'the credential does not fit the challenge');
  const credential = { id, account_id: user.id, public_key: publicKey, counter: 0, confirmed_at: now() };
  if (!store.insert('webauthn_credential', credential)) throw new SandboxError(409, 'the credential already exists');
  recordAuditEvent(store, user, 'factor.confirm', user.id);
  return listFactors(request);
}

/** Returns the bytes in the `response` of a credential; absent members are empty. */
function readSignedBytes({ response }: Fields) {
  const fields = Object(response) as Fields;
  const bytes = (name: string) => Buffer.from(textField(fields, name, ''), 'base64url');
  return {
    clientData: bytes('clientDataJSON'),
    authenticatorData: bytes('authenticatorData'),
    publicKey: bytes('publicKey'),
    signature: bytes('signature'),
  };
}
