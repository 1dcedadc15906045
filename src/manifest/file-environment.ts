import { closeSync, constants, fstatSync, opendirSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type Environment, MAX_FILE_BYTES } from './source.ts';

/** Reads and compares the files of a manifest. */
export interface FileEnvironment extends Environment {
  readonly listFolder: (path: string) => readonly string[];
  /** When a file was written last, in milliseconds since the Unix epoch; 0 where there is none. */
  readonly modifiedMs: (path: string) => number;
}

/** The file system and the environment, as a manifest in this file sees them. */
export function createFileEnvironment(manifestPath: string, env: Environment['env']): FileEnvironment {
  const folder = dirname(resolve(manifestPath));
  return {
    env,
    readFile: (path) => readRegularFile(resolve(folder, path)),
    listFolder: (path) => listNames(resolve(folder, path)),
    modifiedMs: (path) => modifiedMs(resolve(folder, path)),
  };
}

/**
 * Reads a regular file; of a folder it throws `EISDIR`. A pipe may wait for its writer for ever, which no thread can be
 * ended in, and a device may have no end.
 */
function readRegularFile(path: string): string {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  return withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, (file) => {
    const stat = fstatSync(file);
    if (!stat.isFile() && !stat.isDirectory()) throw fileError('no regular file', `${path} is no regular file`);
    return readUpToLimit(file, stat.size, path).toString('utf8');
  });
}

/** Reads a file of any kind that the command line names, a pipe too. Throws `EFBIG` beyond the limit. */
export function readBytes(path: string): Buffer {
  return withFile(path, constants.O_RDONLY, (file) => readUpToLimit(file, fstatSync(file).size, path));
}

/** As `readBytes`, decoded from UTF-8. */
export function readText(path: string): string {
  return readBytes(path).toString('utf8');
}

function withFile<Read>(path: string, flags: number, read: (file: number) => Read): Read {
  const file = openSync(path, flags);
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}

/** Files that say nothing of their size, as below /proc, are read in pieces of this many bytes. */
const CHUNK_BYTES = 65_536;

/**
 * Reads an open file to its end. Neither a large file nor one without an end takes more memory than the limit.
 *
 * @param size the size that the file system states, which may be wrong
 */
export function readUpToLimit(file: number, size: number, path: string): Buffer {
  if (size > MAX_FILE_BYTES) throw tooLargeError(path);
  let bytes = Buffer.allocUnsafeSlow(Math.max(size + 1, CHUNK_BYTES));
  let length = 0;
  for (;;) {
    const count = readSync(file, bytes, length, bytes.length - length, null);
    if (count === 0) return bytes.subarray(0, length);
    length += count;
    if (length > MAX_FILE_BYTES) throw tooLargeError(path);
    if (length === bytes.length) bytes = Buffer.concat([bytes], bytes.length * 2);
  }
}

function tooLargeError(path: string): Error {
  return fileError('EFBIG', `${path} is larger than ${MAX_FILE_BYTES} bytes`);
}

function fileError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** No pattern is meant for a folder with more names. */
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
