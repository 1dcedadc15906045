import { createRequire } from 'node:module';
import type { Server } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { errorAt, type Finding, type Path } from '../../problem/finding.ts';
import { attempt, isFailed, isMatchingPair, readCertificate, readPrivateKey } from './pem.ts';

/** A certificate with its chain, and its private key. */
export interface ServerTls {
  /** The PEM texts. A function, so that whoever prints a plan does not print a key. */
  readonly pem: () => { readonly cert: string; readonly key: string };
}

/** For a manifest that has a certificate: an import would read all of TLS for every one. */
const require = createRequire(import.meta.url);

/**
 * Reads a certificate and its key, and makes sure that they can be served together: what a handshake would fail
 * by is told here. An expired certificate is served: a gateway that runs must still take over the rest of its manifest.
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
  const { createSecureContext }: typeof import('node:tls') = require('node:tls');
  const pem = { cert: certificate.text, key: key.text };
  // The rest of the chain, and what the library holds to be too weak.
  const served = attempt(() => createSecureContext(pem));
  if (!isFailed(served)) return Object.freeze({ pem: () => pem });
  const message = `this certificate cannot be served (${served.code})`;
  findings.push(errorAt([...path, 'certificate'], 'tls', message));
  return undefined;
}
