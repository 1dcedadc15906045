import { posix } from 'node:path';

/** Returns the printed path of a file beside a manifest: relative to the same folder, or at the same git revision. */
export function displayPathBeside(manifest: string, file: string): string {
  if (file.startsWith('/')) return file;
  const revision = manifest.slice(0, manifest.lastIndexOf(':') + 1);
  const folder = manifest.slice(revision.length, Math.max(manifest.lastIndexOf('/') + 1, revision.length));
  return revision + (file.startsWith('..') ? posix.normalize(folder + file) : folder + file);
}
