import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createRequire } from 'node:module';
import { attempt } from '../attempt.ts';
import type { Server } from '../manifest/manifest.generated.ts';
import { describeFileError } from '../manifest/source.ts';
import { type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import type { CompileContext } from './compile-context.ts';

/** A certificate with its chain, and its private key. */
export interface ServerTls {
  /**
   * Returns the PEM texts; with `ca`, those of the authorities that sign client certificates. It is a function so that a printed plan
   * contains no private key.
   */
  readonly pem: () => { readonly cert: string; readonly key: string; readonly ca?: string };
}

/** Loads the TLS library only for manifests with a certificate. */
const require = createRequire(import.meta.url);

/**
 * Reads a certificate and its key, and reports errors that would fail a handshake. Accepts an expired certificate: a running
 * gateway must still be able to activate the rest of its manifest, and compiling does not depend on the clock.
 */
export function compileTls(entry: NonNullable<Server['tls']>, path: Path, compile: CompileContext) {
  const context = { ...compile, rule: 'tls' };
  const certificate = readCertificate(entry.certificate, [...path, 'certificate'], context);
  const key = readPrivateKey(entry.key, [...path, 'key'], context);
  const pem = checkPair(certificate, key, path, context);
  return pem && Object.freeze({ pem: () => pem });
}

/** Returns the PEM texts of a certificate and its key if a handshake can use them, and reports why it cannot otherwise. */
export function checkPair(
  certificate: PemFile<X509Certificate> | undefined,
  key: PemFile<KeyObject> | undefined,
  path: Path,
  { rule, findings }: PemContext,
) {
  if (certificate === undefined || key === undefined) return undefined;
  const report = (name: string, message: string) => {
    findings.push(quoteFreeErrorAt([...path, name], rule, message));
    return undefined;
  };
  if (!certificate.value.checkPrivateKey(key.value))
    return report('key', 'this key does not belong to the certificate; name the key of the certificate');
  const pem = { cert: certificate.text, key: key.text };
  const { createSecureContext }: typeof import('node:tls') = require('node:tls');
  try {
    createSecureContext(pem);
    return pem;
  } catch (error) {
    // Its key may be too weak for the library.
    return report('certificate', `the TLS library rejects this certificate (${errorCode(error)}); name another one`);
  }
}

/** Reads PEM files, and collects their errors under one rule. */
interface PemContext extends Pick<CompileContext, 'readFile' | 'findings' | 'certificates'> {
  readonly rule: string;
}

/** A parsed PEM file. */
interface PemFile<Value> {
  readonly text: string;
  readonly value: Value;
}

/**
 * Reads a certificate (RFC 7468 section 5), or the first one of several, from a file that the manifest names at a path.
 * Reports one that is damaged: the TLS library would silently ignore it and those after it.
 */
export function readCertificate(file: string, path: Path, context: PemContext): PemFile<X509Certificate> | undefined {
  const certificate = read(file, path, context, 'certificate in PEM', (text) => new X509Certificate(text));
  if (certificate === undefined) return undefined;
  const blocks = Array.from(certificate.text.matchAll(CERTIFICATE), ([block]) =>
    attempt(() => new X509Certificate(block)),
  );
  const damaged = blocks.indexOf(undefined);
  if (damaged < 0) {
    const all = [certificate.value, ...blocks.filter((block) => block !== undefined)].map(validityOf);
    const first = all.reduce((one, other) => (other.expiresMs < one.expiresMs ? other : one));
    const last = all.reduce((one, other) => (other.validFromMs > one.validFromMs ? other : one));
    const problemAt = (nowMs: number) => problemOf(first, last, nowMs);
    context.certificates.push({ path, validFromMs: last.validFromMs, expiresMs: first.expiresMs, problemAt });
    return certificate;
  }
  const message = `certificate ${damaged + 1} of ${blocks.length} in this file is damaged; replace or remove it`;
  context.findings.push(quoteFreeErrorAt(path, context.rule, message));
  return undefined;
}

const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[\s\S]*?(?=-----BEGIN |$)/g;

const SOON_MS = 14 * 86_400_000;

type Validity = ReturnType<typeof validityOf>;

function validityOf({ subject, serialNumber, validFromDate, validToDate }: X509Certificate) {
  const name = `the certificate "${subject?.replaceAll('\n', ', ') ?? serialNumber}" in this file`;
  // A time that cannot be read is NaN.
  return { name, validFromMs: validFromDate.getTime() || 0, expiresMs: validToDate.getTime() || 0 };
}

/** Returns the problem of the certificate that expires first, or of the one that becomes valid last. */
function problemOf({ name, expiresMs }: Validity, last: Validity, nowMs: number): string | undefined {
  if (expiresMs <= nowMs) return `${name} expired on ${minuteOf(expiresMs)}`;
  if (last.validFromMs > nowMs) return `${last.name} is not valid before ${minuteOf(last.validFromMs)}`;
  return expiresMs <= nowMs + SOON_MS ? `${name} expires on ${minuteOf(expiresMs)}` : undefined;
}

function minuteOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Reads a private key (RFC 7468 section 10) from a file that the manifest names at a path. */
export function readPrivateKey(file: string, path: Path, context: PemContext): PemFile<KeyObject> | undefined {
  return read(file, path, context, 'private key in PEM that needs no passphrase', (text) => createPrivateKey(text));
}

function read<Value>(
  file: string,
  path: Path,
  { readFile, rule, findings }: PemContext,
  noun: string,
  parse: (text: string) => Value,
): PemFile<Value> | undefined {
  let text: string | undefined;
  try {
    text = readFile(file);
    return { text, value: parse(text) };
  } catch (error) {
    const message =
      text === undefined
        ? `the file cannot be read: ${describeFileError(errorCode(error))}`
        : `this file contains no ${noun}; name one that does`;
    findings.push(quoteFreeErrorAt(path, rule, message));
    return undefined;
  }
}

/** Returns only the code of an error: the messages of the library may quote the file. */
function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
