import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { Server } from '../manifest/manifest.generated.ts';
import type { World } from '../manifest/source.ts';
import { errorAt, type Finding } from '../problem/finding.ts';
import type { TlsPair } from './plan.ts';

type Tls = NonNullable<Server['tls']>;

/**
 * Reads a certificate and its key, and makes sure that they can be served together: what a handshake would fail
 * by is told here. An expired certificate is served: a gateway that runs must still take over the rest of its manifest.
 */
export function compileTls(entry: Tls, readFile: World['readFile'], findings: Finding[]): TlsPair | undefined {
  const refuse = (name: keyof Tls, message: string) => {
    findings.push(errorAt(['server', 'tls', name], 'tls', message));
    return undefined;
  };
  const read = (name: keyof Tls) => {
    const text = attempt(() => readFile(entry[name]));
    if (typeof text === 'string') return text;
    return refuse(name, `the file cannot be read (${text.code}); write a path relative to the manifest`);
  };
  const cert = read('certificate');
  const key = read('key');
  if (cert === undefined || key === undefined) return undefined;

  const certificate = attempt(() => new X509Certificate(cert));
  const privateKey = attempt(() => createPrivateKey(key));
  if ('code' in certificate) refuse('certificate', 'this file holds no certificate in PEM; name one that does');
  if ('code' in privateKey)
    refuse('key', 'this file holds no private key in PEM that needs no passphrase; name one that does');
  if ('code' in certificate || 'code' in privateKey) return undefined;
  if (!certificate.checkPrivateKey(privateKey))
    return refuse('key', 'this key does not belong to the certificate; name the one that it was made for');
  // The rest of the chain, and what the library holds to be too weak.
  const context = attempt(() => createSecureContext({ cert, key }));
  if ('code' in context) return refuse('certificate', `this certificate cannot be served (${context.code})`);
  return Object.freeze({ pem: () => ({ cert, key }) });
}

/** What went wrong is told by its code alone: the library's messages may quote what it read. */
function attempt<Made>(make: () => Made): Made | { readonly code: string } {
  try {
    return make();
  } catch (error) {
    return { code: error instanceof Error && 'code' in error ? String(error.code) : 'unknown' };
  }
}
