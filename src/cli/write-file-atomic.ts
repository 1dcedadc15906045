import { randomUUID } from 'node:crypto';
import { chmodSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { unwritableFileError } from './unwritable-file.ts';

/**
 * Writes a file through a temporary file and a rename, so a reader never sees half of it and a failed write leaves the old
 * content. Throws a `CommandError` if the file cannot be written.
 */
export function writeFileAtomic(path: string, text: string): void {
  try {
    const old = statSync(path, { throwIfNoEntry: false });
    // A rename would replace a pipe or a terminal by a regular file.
    if (old !== undefined && !old.isFile()) writeFileSync(path, text);
    else if (old === undefined) replace(path, text);
    else replace(realpathSync(path), text, old.mode);
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
