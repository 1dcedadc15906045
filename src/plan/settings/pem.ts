import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { Environment } from '../../manifest/source.ts';
import { errorAt, type Finding, type Path } from '../../problem/finding.ts';

/** Where PEM files are read from, and where it is told what is wrong with one. */
export interface PemContext {
  readonly readFile: Environment['readFile'];
  readonly rule: string;
  readonly findings: Finding[];
}

/** A PEM file that was read and understood. */
export interface PemFile<Made> {
  readonly text: string;
  readonly value: Made;
}

/** The certificate (RFC 7468 section 5) in a file that a manifest names at a path; the first of a chain. */
export function readCertificate(file: string, path: Path, context: PemContext): PemFile<X509Certificate> | undefined {
  return read(file, path, context, 'certificate in PEM', (text) => new X509Certificate(text));
}

/** The private key (RFC 7468 section 10) in a file that a manifest names at a path. */
export function readPrivateKey(file: string, path: Path, context: PemContext): PemFile<KeyObject> | undefined {
  return read(file, path, context, 'private key in PEM that needs no passphrase', (text) => createPrivateKey(text));
}

/** Whether a key is that of a certificate; told at the key when it is not. */
export function isMatchingPair(
  { value }: PemFile<X509Certificate>,
  { value: key }: PemFile<KeyObject>,
  path: Path,
  { rule, findings }: PemContext,
): boolean {
  if (value.checkPrivateKey(key)) return true;
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
): PemFile<Made> | undefined {
  const text = attempt(() => readFile(file));
  const value = typeof text === 'string' ? attempt(() => make(text)) : text;
  if (typeof text === 'string' && !isFailed(value)) return { text, value };
  const message =
    typeof text === 'string'
      ? `this file holds no ${what}; name one that does`
      : `the file cannot be read (${text.code}); write a path relative to the manifest`;
  findings.push(errorAt(path, rule, message));
  return undefined;
}

/** What went wrong is told by its code alone: the library's messages may quote what it read. */
export function attempt<Made>(make: () => Made): Made | FailedAttempt {
  try {
    return make();
  } catch (error) {
    return new FailedAttempt(error instanceof Error && 'code' in error ? String(error.code) : 'unknown');
  }
}

export function isFailed(made: unknown): made is FailedAttempt {
  return made instanceof FailedAttempt;
}

class FailedAttempt {
  readonly code: string;

  constructor(code: string) {
    this.code = code;
  }
}
