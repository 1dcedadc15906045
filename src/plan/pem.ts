import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { World } from '../manifest/source.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';

/** Where PEM files are read from, and where it is told what is wrong with one. */
export interface PemContext {
  readonly readFile: World['readFile'];
  readonly rule: string;
  readonly findings: Finding[];
}

/** A PEM file that was read and understood. */
export interface Pem<Made> {
  readonly text: string;
  readonly made: Made;
}

/** The certificate (RFC 7468 section 5) in a file that a manifest names at a path; the first of a chain. */
export function readCertificate(file: string, path: Path, context: PemContext): Pem<X509Certificate> | undefined {
  return read(file, path, context, 'certificate in PEM', (text) => new X509Certificate(text));
}

/** The private key (RFC 7468 section 10) in a file that a manifest names at a path. */
export function readPrivateKey(file: string, path: Path, context: PemContext): Pem<KeyObject> | undefined {
  return read(file, path, context, 'private key in PEM that needs no passphrase', (text) => createPrivateKey(text));
}

/** Whether a key is that of a certificate; told at the key when it is not. */
export function isPair(
  { made: certificate }: Pem<X509Certificate>,
  { made: key }: Pem<KeyObject>,
  path: Path,
  { rule, findings }: PemContext,
): boolean {
  if (certificate.checkPrivateKey(key)) return true;
  const message = 'this key does not belong to the certificate; name the one that it was made for';
  findings.push(errorAt(path, rule, message));
  return false;
}

function read<Made>(
  file: string,
  path: Path,
  { readFile, rule, findings }: PemContext,
  what: string,
  make: (text: string) => Made,
): Pem<Made> | undefined {
  const text = attempt(() => readFile(file));
  const made = typeof text === 'string' ? attempt(() => make(text)) : text;
  if (typeof text === 'string' && !isFailed(made)) return { text, made };
  const message =
    typeof text === 'string'
      ? `this file holds no ${what}; name one that does`
      : `the file cannot be read (${text.code}); write a path relative to the manifest`;
  findings.push(errorAt(path, rule, message));
  return undefined;
}

/** What went wrong is told by its code alone: the library's messages may quote what it read. */
export function attempt<Made>(make: () => Made): Made | Failed {
  try {
    return make();
  } catch (error) {
    return new Failed(error instanceof Error && 'code' in error ? String(error.code) : 'unknown');
  }
}

export function isFailed(made: unknown): made is Failed {
  return made instanceof Failed;
}

class Failed {
  readonly code: string;

  constructor(code: string) {
    this.code = code;
  }
}
