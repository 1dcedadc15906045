import { createPublicKey, hash, type KeyObject } from 'node:crypto';

/** The relying party. Browsers allow WebAuthn without TLS only on this name. */
export const RP_ID = 'localhost';
const LOCAL_ORIGIN = /^https?:\/\/localhost(?::\d{1,5})?$/;

/** Flags of authenticator data (WebAuthn level 2, section 6.1). */
export const USER_PRESENT = 0x01;
export const HAS_CREDENTIAL = 0x40;

const RP_ID_HASH = Buffer.from(hash('sha256', RP_ID), 'hex');
const HEAD_BYTES = RP_ID_HASH.length + 5;
/** The model of an authenticator. Each one chooses its own. */
const AAGUID_BYTES = 16;

export type CeremonyType = 'webauthn.create' | 'webauthn.get';

/** Returns the challenge that the browser signed; `undefined` for another ceremony or an origin off this machine. */
export function challengeOf(clientData: Buffer, type: CeremonyType): string | undefined {
  try {
    const { type: actual, challenge, origin } = JSON.parse(clientData.toString());
    const isLocal = typeof origin === 'string' && LOCAL_ORIGIN.test(origin);
    return isLocal && actual === type && typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/** Creates authenticator data: hash of the relying party, flags, counter, and optionally a described credential. */
export function createAuthenticatorData(flags: number, counter: number, credential?: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(counter, 1);
  return Buffer.concat([RP_ID_HASH, head, ...(credential ? [Buffer.alloc(AAGUID_BYTES), credential] : [])]);
}

/** Returns the flags and the counter of authenticator data; `undefined` if it is for another relying party. */
export function parseAuthenticatorData(data: Buffer): { readonly flags: number; readonly counter: number } | undefined {
  if (data.length < HEAD_BYTES || !data.subarray(0, RP_ID_HASH.length).equals(RP_ID_HASH)) return undefined;
  return { flags: data.readUInt8(RP_ID_HASH.length), counter: data.readUInt32BE(RP_ID_HASH.length + 1) };
}

/** True if authenticator data contains this described credential. Extensions may follow it. */
export function containsCredential(data: Buffer, credential: Buffer): boolean {
  const start = HEAD_BYTES + AAGUID_BYTES;
  return data.subarray(start, start + credential.length).equals(credential);
}

/** Returns the attested credential data of a P-256 key after the AAGUID (section 6.5.1). An id has at most 1023 bytes. */
export function describeCredential(id: Buffer, publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const length = Buffer.alloc(2);
  length.writeUInt16BE(id.length);
  // A COSE key in CBOR: a map of kty EC2, alg ES256, crv P-256, x and y.
  const coordinate = (key: number, text: string) => [Buffer.of(key, 0x58, 32), Buffer.from(text, 'base64url')];
  const key = [Buffer.of(0xa5, 1, 2, 3, 0x26, 0x20, 1), ...coordinate(0x21, x), ...coordinate(0x22, y)];
  return Buffer.concat([length, id, ...key]);
}

/** Returns an attestation object in CBOR of the format `none`. */
export function createAttestationObject(authenticatorData: Buffer): Buffer {
  const head = Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex');
  return Buffer.concat([head, Buffer.of(authenticatorData.length), authenticatorData]);
}

/** Returns a P-256 key from its SPKI; `undefined` if it is not one. */
export function readPublicKey(spki: Buffer): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined;
  } catch {
    return undefined;
  }
}
