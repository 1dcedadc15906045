import { randomUUID } from 'node:crypto';
import { chmodSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileErrorCode } from '../engine/manifest/source.ts';
import { CommandError } from './terminal.ts';

/** Writes a file by a rename, so that no reader sees half of it and a failed write leaves the old content. Throws a `CommandError`. */
export function writeFileAtomic(path: string, text: string): void {
  writeOrFail(path, () => {
    const old = statSync(path, { throwIfNoEntry: false });
    // A rename would replace a pipe or a terminal by a regular file.
    if (old !== undefined && !old.isFile()) writeFileSync(path, text);
    else if (old === undefined) replace(path, text);
    else replace(realpathSync(path), text, old.mode);
  });
}

/** Writes a file or folder. Throws a `CommandError` with the reason and what to do if it cannot be written. */
export function writeOrFail(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw unwritableFileError(path, error);
  }
}

function replace(path: string, text: string, mode?: number): void {
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: 'wx' });
    if (mode !== undefined) chmodSync(temporary, mode);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function unwritableFileError(path: string, error: unknown): CommandError {
  const folder = dirname(path);
  const code = fileErrorCode(error);
  const described: Readonly<Record<string, string>> = {
    ENOENT: `the folder ${folder} does not exist; create it`,
    ENOTDIR: `${folder} is not a folder; name a file in a folder`,
    EACCES: `its permissions do not allow it; change them, or name another file`,
    EPERM: `its permissions do not allow it; change them, or name another file`,
    EROFS: `its file system is read-only; name another file`,
    EISDIR: `it is a folder; name a file in it`,
    EEXIST: `it already exists; name another file, or remove this one`,
    ENOSPC: `the disk is full; free some space`,
    ENAMETOOLONG: `its name is longer than the file system allows; write a shorter path`,
    ERR_INVALID_ARG_VALUE: `no path has a NUL character; remove the character`,
  };
  return new CommandError(`cannot write ${path}: ${described[code] ?? `${code}; name another file`}`);
}
