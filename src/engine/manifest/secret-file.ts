import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { attempt } from '../attempt.ts';
import type { Path } from '../problem/finding.ts';
import { sha256 } from './dependencies.ts';
import { decodeText, describeFileError, type Environment, fileError, readRegularFile } from './source.ts';

/** Where Docker and Podman mount secrets. */
export const DEFAULT_SECRETS_FOLDER = '/run/secrets';
const MAX_SECRET_BYTES = 65_536;

/**
 * Creates a function that returns the secret in a file, without its last line break. The file must be a regular one below the folder, once
 * links are resolved: Kubernetes mounts secrets as links. Returns `undefined` without a folder.
 */
export function createSecretReader(folder: string | undefined): Environment['readSecret'] {
  if (folder === undefined) return undefined;
  return (path) => {
    const target = realpathSync(path);
    if (!target.startsWith(join(attempt(() => realpathSync(folder)) ?? folder, sep)))
      throw fileError('outside', `${path} is outside of ${folder}`);
    const text = decodeText(readRegularFile(target, MAX_SECRET_BYTES)).replace(/\r?\n$/, '');
    if (text === '') throw fileError('empty', `${path} is empty`);
    if (!text.isWellFormed()) throw fileError('not text', `${path} is not UTF-8`);
    return text;
  };
}

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
