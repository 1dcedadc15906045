import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

const folders: string[] = [];
/** Installed packages have many files. */
const REMOVAL_TIMEOUT_MS = 300_000;
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}, REMOVAL_TIMEOUT_MS);

/** Creates a temporary folder with these files, by relative path. It is removed after the last test of the file. */
export function temporaryFolder(name: string, files: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}
