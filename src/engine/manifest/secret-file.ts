import { randomUUID } from 'node:crypto';
import type { Path } from '../problem/finding.ts';
import { sha256 } from './dependencies.ts';
import { describeFileError, MAX_SECRET_BYTES } from './source.ts';

const ERRORS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist; create it, or correct the path',
  EFBIG: `it has more than ${MAX_SECRET_BYTES} bytes; name a file that has only the secret`,
  outside: 'it is not in the folder of secrets; move it there, or name its folder with --secrets-dir',
  empty: 'it is empty; write the secret into it',
  'not text': 'it is not UTF-8 text; encode the secret, for example as Base64',
};

/** Returns why a secret file cannot be read, and what to do, as the end of a message. */
export function describeSecretError(code: string): string {
  return ERRORS[code] ?? describeFileError(code);
}

const SECRET_SECTIONS = /^(?:admin|auth|log|stores)$/;
const SECRET_KEYS = /^(?:token|secret|clientId|clientSecret|username|password)$/;

/** True if the value at a path may come from a file: a secret, a request header, or a part of a Redis URL. */
export function mayComeFromFile(path: Path, template: string): boolean {
  if (path.at(-3) === 'requestHeaders') return path.at(-2) === 'set';
  if (path[0] === 'stores' && path.includes('redis') && /^\w+:\/\//.test(template)) return true;
  return SECRET_SECTIONS.test(String(path[0])) && SECRET_KEYS.test(String(path.at(-1)));
}

/** A program that serves without reading the files must not accept a token that anybody can compute. */
const SALT = randomUUID();

/**
 * Returns the value that stands for a secret where its file is not read: in this process the same for the same file, and valid at each key
 * that may have one. In a header it is the reference, which test cases can expect.
 */
export function unknownSecret(path: Path, reference: string): string {
  return path.includes('requestHeaders') ? reference : sha256(SALT + reference);
}
