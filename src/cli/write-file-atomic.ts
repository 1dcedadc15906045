import { randomUUID } from 'node:crypto';
import { chmodSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { CommandError } from './terminal.ts';

/**
 * Writes a file whole or not at all: nobody reads half of it, and a write that fails leaves the old one as it was.
 * Throws a `WorkError` when it cannot be written.
 */
export function writeFileAtomic(path: string, text: string): void {
  try {
    const old = statSync(path, { throwIfNoEntry: false });
    // A pipe or a terminal has nothing to keep, and must not be replaced by a file.
    if (old !== undefined && !old.isFile()) writeFileSync(path, text);
    else if (old === undefined) replace(path, text);
    else replace(realpathSync(path), text, old.mode);
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  }
}

function replace(path: string, text: string, mode?: number): void {
  const beside = `${path}.${randomUUID()}.tmp`;
  try {
    writeFileSync(beside, text, { flag: 'wx' });
    if (mode !== undefined) chmodSync(beside, mode);
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw error;
  }
}
