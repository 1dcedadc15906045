import { dirname } from 'node:path';
import { fileErrorCode } from '../engine/manifest/source.ts';
import { CommandError } from './terminal.ts';

/** Creates the error for a file or folder that cannot be written: the reason, and what to do. */
export function unwritableFileError(path: string, error: unknown): CommandError {
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
