import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';

/** A certificate and its key in PEM. */
export interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/**
 * Creates a self-signed certificate (RFC 5280) for a host and its key. A certificate for `localhost` is also for 127.0.0.1.
 *
 * @param days days until it expires; a negative number creates an expired one
 * @param start days until it is valid
 */
export function createPair({
  name = 'localhost',
  host = 'localhost',
  days = 30,
  start = Math.min(0, days) - 1,
} = {}): Pair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const certificate = signCertificate(privateKey, publicKey, { name, host, days, start }).toString();
  return { certificate, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  subjectAltName: '0603551d11',
} as const;

interface CertificateSubject {
  readonly name: string;
  readonly host: string;
  readonly days: number;
  readonly start: number;
}

function signCertificate(
  privateKey: KeyObject,
  publicKey: KeyObject,
  { name, host, days, start }: CertificateSubject,
): X509Certificate {
  const algorithm = der(0x30, hex(OID.ecdsaWithSha256));
  const issuer = der(0x30, der(0x31, der(0x30, hex(OID.commonName), der(0x0c, Buffer.from(name)))));
  const validity = der(0x30, time(start), time(days));
  const address = host === 'localhost' ? [der(0x87, Buffer.from([127, 0, 0, 1]))] : [];
  const names = der(0x30, der(0x82, Buffer.from(host)), ...address);
  const extensions = der(0xa3, der(0x30, der(0x30, hex(OID.subjectAltName), der(0x04, names))));
  const serial = der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)]));
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const body = der(0x30, version, serial, algorithm, issuer, validity, issuer, key, extensions);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  return new X509Certificate(der(0x30, body, algorithm, signature));
}

/** Encodes a value in DER (X.690): tag, length, content. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const bytes = Buffer.concat(content);
  const { length } = bytes;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), bytes]);
}

function time(days: number): Buffer {
  const at = new Date(Date.now() + days * 86_400_000).toISOString();
  return der(0x18, Buffer.from(`${at.replaceAll(/[-:T]/g, '').slice(0, 14)}Z`));
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}
