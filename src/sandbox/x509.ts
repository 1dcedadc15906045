import { type KeyObject, randomBytes, sign } from 'node:crypto';

/** A self-signed X.509 certificate (RFC 5280, version 1, no extensions) of a P-256 key, as PEM. */
export function createCertificate(options: {
  readonly commonName: string;
  readonly organisation: string;
  readonly validFrom: Date;
  readonly validTo: Date;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}): string {
  const name = der(
    SEQUENCE,
    attribute('550403', options.commonName), // 2.5.4.3
    attribute('55040a', options.organisation), // 2.5.4.10
  );
  const algorithm = der(SEQUENCE, der(OBJECT_ID, Buffer.from('2a8648ce3d040302', 'hex'))); // ecdsa-with-SHA256
  const serial = Buffer.concat([Buffer.of(0x01), randomBytes(15)]); // a first byte of 1 keeps it positive
  const signed = der(
    SEQUENCE,
    der(INTEGER, serial),
    algorithm,
    name,
    der(SEQUENCE, time(options.validFrom), time(options.validTo)),
    name,
    options.publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = Buffer.concat([Buffer.of(0), sign('sha256', signed, options.privateKey)]);
  const certificate = der(SEQUENCE, signed, algorithm, der(BIT_STRING, signature)).toString('base64');
  const lines = certificate.match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;

function attribute(objectIdHex: string, value: string): Buffer {
  const type = der(OBJECT_ID, Buffer.from(objectIdHex, 'hex'));
  return der(SET, der(SEQUENCE, type, der(UTF8_STRING, Buffer.from(value))));
}

/** UTCTime has two digits of the year: good until 2049. */
function time(date: Date): Buffer {
  return der(UTC_TIME, Buffer.from(`${date.toISOString().slice(2, 19).replace(/\D/g, '')}Z`));
}

/** Tag, length and value (X.690). */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...size), value]);
}
