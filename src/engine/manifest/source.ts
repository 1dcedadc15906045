import { isUtf8 } from 'node:buffer';
import { closeSync, constants, fstatSync, opendirSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, posix, resolve, sep } from 'node:path';
import { attempt } from '../attempt.ts';

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
  /** Returns the secret of `${file:PATH}`. Throws the errors of `createSecretReader`. By default such a value is unknown. */
  readonly readSecret?: ((path: string) => string) | undefined;
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
      if (text === undefined) throw fileError('ENOENT', `no file ${path}`);
      return text;
    },
    listFolder: (path) => {
      const folder = posix.join('.', path, '/');
      const paths = folder === './' ? [...texts.keys()] : [...texts.keys()].filter((name) => name.startsWith(folder));
      const names = paths.map((name) => name.slice(folder === './' ? 0 : folder.length).split('/', 1)[0] ?? '');
      if (names.length === 0) throw fileError('ENOENT', `no file ${path}`);
      return [...new Set(names)];
    },
  };
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

export interface FileEnvironment extends Environment {
  readonly listFolder: (path: string) => readonly string[];
  /** Returns when a file was last modified, in milliseconds since the Unix epoch; 0 if it does not exist. */
  readonly modifiedMs: (path: string) => number;
}

/** Creates the environment of a manifest file. Paths are relative to the file. Without a folder of secrets, they are unknown. */
export function createFileEnvironment(
  manifestPath: string,
  env: Environment['env'],
  overrides: AddressOverrides = {},
  secretsFolder?: string,
): FileEnvironment {
  const folder = dirname(resolve(manifestPath));
  return {
    env,
    overrides,
    readSecret: secretsFolder === undefined ? undefined : createSecretReader(secretsFolder),
    readFile: (path) => decodeText(readRegularFile(resolve(folder, path))),
    listFolder: (path) => listNames(resolve(folder, path)),
    modifiedMs: (path) => attempt(() => statSync(resolve(folder, path)).mtimeMs) ?? 0,
  };
}

export const MAX_SECRET_BYTES = 65_536;

/**
 * Creates a function that returns the secret in a file, without its last line break. The file must be a regular one below the folder, once
 * links are resolved: Kubernetes mounts secrets as links.
 */
export function createSecretReader(folder: string): (path: string) => string {
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

/**
 * Reads a regular file; throws `EISDIR` for a folder. Refuses pipes and devices: opening a pipe may block forever, in a thread
 * that cannot be terminated, and a device may have no end.
 */
function readRegularFile(path: string, maxBytes?: number): Buffer {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  return withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, (file) => {
    const stat = fstatSync(file);
    if (!stat.isFile() && !stat.isDirectory()) throw fileError('not a regular file', `${path} is not a regular file`);
    return readUpToLimit(file, stat.size, path, maxBytes);
  });
}

/** Reads any file that the command line names, even a pipe. Throws `EFBIG` above the limit. */
export function readBytes(path: string, maxBytes = MAX_FILE_BYTES): Buffer {
  return withFile(path, constants.O_RDONLY, (file) => readUpToLimit(file, fstatSync(file).size, path, maxBytes));
}

/** Reads a file as `readBytes` does, and decodes it as `decodeText` does. */
export function readText(path: string, maxBytes?: number): string {
  return decodeText(readBytes(path, maxBytes));
}

function withFile<Result>(path: string, flags: number, read: (file: number) => Result): Result {
  const file = openSync(path, flags);
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}

/** The initial buffer for files whose size is unknown, such as those in /proc. */
const CHUNK_BYTES = 65_536;

/**
 * Reads an open file to its end. Even an endless file takes no more memory than the limit.
 *
 * @param size the size that the file system reports, which may be wrong
 */
export function readUpToLimit(file: number, size: number, path: string, maxBytes = MAX_FILE_BYTES): Buffer {
  if (size > maxBytes) throw tooLargeError(path, maxBytes);
  let bytes = Buffer.allocUnsafeSlow(Math.max(size + 1, CHUNK_BYTES));
  let length = 0;
  for (;;) {
    const count = readSync(file, bytes, length, bytes.length - length, null);
    if (count === 0) return bytes.subarray(0, length);
    length += count;
    if (length > maxBytes) throw tooLargeError(path, maxBytes);
    if (length === bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2);
  }
}

function tooLargeError(path: string, maxBytes: number): Error {
  return fileError('EFBIG', `${path} is larger than ${maxBytes} bytes`);
}

export function fileError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** The limit of names in a folder that a pattern searches. */
const MAX_NAMES = 100_000;

function listNames(path: string): string[] {
  const folder = opendirSync(path, { bufferSize: 1_024 });
  try {
    const names: string[] = [];
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      if (names.length === MAX_NAMES) throw fileError('EFBIG', `${path} has more than ${MAX_NAMES} names`);
      names.push(entry.name);
    }
    return names;
  } finally {
    folder.closeSync();
  }
}
