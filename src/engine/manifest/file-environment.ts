import { closeSync, constants, fstatSync, opendirSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type AddressOverrides, decodeText, type Environment, MAX_FILE_BYTES } from './source.ts';

/** An environment that reads the file system. */
export interface FileEnvironment extends Environment {
  readonly listFolder: (path: string) => readonly string[];
  /** Returns when a file was last modified, in milliseconds since the Unix epoch; 0 if it does not exist. */
  readonly modifiedMs: (path: string) => number;
}

/** Creates the environment of a manifest file. Paths are relative to the file. */
export function createFileEnvironment(
  manifestPath: string,
  env: Environment['env'],
  overrides: AddressOverrides = {},
): FileEnvironment {
  const folder = dirname(resolve(manifestPath));
  return {
    env,
    overrides,
    readFile: (path) => readRegularFile(resolve(folder, path)),
    listFolder: (path) => listNames(resolve(folder, path)),
    modifiedMs: (path) => modifiedMs(resolve(folder, path)),
  };
}

/**
 * Reads a regular file; throws `EISDIR` for a folder. Refuses pipes and devices: opening a pipe may block forever, in a thread
 * that cannot be terminated, and a device may have no end.
 */
function readRegularFile(path: string): string {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  return withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, (file) => {
    const stat = fstatSync(file);
    if (!stat.isFile() && !stat.isDirectory()) throw fileError('not a regular file', `${path} is not a regular file`);
    return decodeText(readUpToLimit(file, stat.size, path));
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

function fileError(code: string, message: string): Error {
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

function modifiedMs(path: string): number {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}
