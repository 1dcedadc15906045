import { isUtf8 } from 'node:buffer';
import { posix } from 'node:path';

/** A text that is not parsed yet. */
export interface Source {
  /** The file name that problems print. */
  readonly path: string;
  readonly text: string;
}

/** The limit of each file of a manifest. 10,000 routes have about 2 MB. */
export const MAX_FILE_BYTES = 5_000_000;

/** The limit for all files of one manifest together, since it may name hundreds. */
export const MAX_ALL_CHARACTERS = 25_000_000;

/** Returns the code of an error that `Environment.readFile` has thrown. An error without a code means a missing file. */
export function fileErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'ENOENT';
}

/**
 * Returns why a file that the manifest names cannot be read, and what to do, as the end of a message.
 *
 * @param code see `fileErrorCode`
 * @param base the file that the path is relative to
 */
export function describeFileError(code: string, base = 'the manifest'): string {
  const [reason, remedy] = FILE_ERRORS[code] ?? [code, `write the path of a file relative to ${base}`];
  return `${reason}; ${remedy.replace('BASE', base)}`;
}

const MISSING = ['it does not exist', 'write a path relative to BASE'] as const;
const FORBIDDEN = ['its permissions do not allow it', 'let the user of the gateway read it'] as const;

/** The code for a file that a manifest may not use, because it is not saved beside it. */
export const FILE_NOT_LISTED = 'ERR_FILE_NOT_LISTED';

const FILE_ERRORS: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  ENOENT: MISSING,
  ENOTDIR: MISSING,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EISDIR: ['it is a folder', 'name a file in it'],
  EFBIG: [
    `it has more than ${MAX_FILE_BYTES} bytes, or all files of the manifest together more than ${MAX_ALL_CHARACTERS} characters`,
    'name a smaller file',
  ],
  [FILE_NOT_LISTED]: [
    'a candidate from the admin API may use only the files of the active manifest',
    'use one of them, or start the gateway with --candidate',
  ],
  ELOOP: ['its symbolic links form a circle', 'correct the links'],
  ENAMETOOLONG: ['its name is longer than the file system allows', 'write a shorter path'],
  ERR_INVALID_ARG_VALUE: ['no path has a NUL character', 'remove the character'],
  'not a regular file': ['it is a pipe or a device', 'name a regular file'],
};

/** Addresses from the command line. Each replaces the one of the manifest. */
export interface AddressOverrides {
  readonly listen?: string;
  readonly admin?: string;
}

/** The environment variables and files that a manifest may use, and the overrides. `load` has no other inputs. */
export interface Environment {
  /** Environment variables, for `${NAME}` in values. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * Returns the text of a file by its path relative to the manifest, as `decodeText` does. Throws the errors of `fs`, and `EFBIG`
   * above the limit.
   */
  readonly readFile: (path: string) => string;
  /** Returns the names in a folder by its path relative to the manifest. Throws the errors of `fs`. By default there are no folders. */
  readonly listFolder?: (path: string) => readonly string[];
  readonly overrides?: AddressOverrides;
  /** Files with further invariants, relative to the manifest. */
  readonly invariantFiles?: readonly string[];
}

/**
 * Creates an environment without a file system, for programs that keep manifests elsewhere and for tests.
 *
 * @param env the environment variables
 * @param files the text of each file by its path relative to the manifest
 */
export function createMemoryEnvironment(
  env: Environment['env'] = {},
  files: Readonly<Record<string, string>> = {},
): Environment {
  const texts = new Map(Object.entries(files).map(([path, text]) => [posix.normalize(path), text]));
  return {
    env,
    readFile: (path) => {
      const text = texts.get(posix.normalize(path));
      if (text === undefined) throw missingError(path);
      return text;
    },
    listFolder: (path) => {
      const folder = posix.join('.', path, '/');
      const paths = folder === './' ? [...texts.keys()] : [...texts.keys()].filter((name) => name.startsWith(folder));
      const names = paths.map((name) => name.slice(folder === './' ? 0 : folder.length).split('/', 1)[0] ?? '');
      if (names.length === 0) throw missingError(path);
      return [...new Set(names)];
    },
  };
}

function missingError(path: string): Error {
  return Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
}

// A manifest and the files that it names are UTF-8 (RFC 3629). A lenient decoder would replace invalid bytes, so that the
// gateway would read another text than the author wrote. Here an invalid byte stays visible, as half of a surrogate pair, which
// no valid text contains: `parse` reports it with its line and column.

/** A valid sequence of two to four bytes, or one invalid byte; in bytes decoded as Latin-1. */
const SEQUENCE =
  /[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}|[\x80-\xFF]/g;
const FIRST_MARK = 0xdc00;

/** Decodes UTF-8. Keeps a byte order mark. An invalid byte becomes the code unit U+DC00 plus its value. */
export function decodeText(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : bytes.toString('latin1').replaceAll(SEQUENCE, decodeSequence);
}

function decodeSequence(sequence: string): string {
  return sequence.length === 1
    ? String.fromCharCode(FIRST_MARK + sequence.charCodeAt(0))
    : Buffer.from(sequence, 'latin1').toString('utf8');
}

/** Returns the invalid byte that `decodeText` marked with a code unit; `undefined` for any other code unit. */
export function invalidByteOf(codeUnit: string): number | undefined {
  const byte = codeUnit.charCodeAt(0) - FIRST_MARK;
  return byte >= 0x80 && byte <= 0xff ? byte : undefined;
}
