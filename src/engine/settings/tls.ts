import { createRequire } from 'node:module';
import type { Server } from '../manifest/manifest.generated.ts';
import type { Environment } from '../manifest/source.ts';
import { type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import { errorCode, isMatchingPair, type PemContext, readCertificate, readPrivateKey } from './pem.ts';

/** A certificate with its chain, and its private key. */
export interface ServerTls {
  /** Returns the PEM texts. A function, so that a printed plan contains no private key. */
  readonly pem: () => { readonly cert: string; readonly key: string };
}

/** Loads the TLS library only for manifests with a certificate. */
const require = createRequire(import.meta.url);

/**
 * Reads a certificate and its key, and reports errors that would fail a handshake. Accepts an expired certificate: a running
 * gateway must still be able to activate the rest of its manifest.
 */
export function compileTls(
  entry: NonNullable<Server['tls']>,
  path: Path,
  readFile: Environment['readFile'],
  findings: Finding[],
): ServerTls | undefined {
  const context = { readFile, rule: 'tls', findings };
  const certificate = readCertificate(entry.certificate, [...path, 'certificate'], context);
  const key = readPrivateKey(entry.key, [...path, 'key'], context);
  if (certificate === undefined || key === undefined) return undefined;
  if (!isMatchingPair(certificate, key, [...path, 'key'], context)) return undefined;
  const pem = { cert: certificate.text, key: key.text };
  return isUsablePair(pem, [...path, 'certificate'], context) ? Object.freeze({ pem: () => pem }) : undefined;
}

/** Returns true if the TLS library accepts a pair. Otherwise reports an error: its key may be too weak for the library. */
export function isUsablePair(
  pem: { readonly cert: string; readonly key: string },
  path: Path,
  { rule, findings }: PemContext,
): boolean {
  const { createSecureContext }: typeof import('node:tls') = require('node:tls');
  try {
    createSecureContext(pem);
    return true;
  } catch (error) {
    const message = `the TLS library rejects this certificate (${errorCode(error)}); name another one`;
    findings.push(quoteFreeErrorAt(path, rule, message));
    return false;
  }
}
