/** Returns the printed path of a file beside a manifest: in the same folder, or at the same git revision. */
export function displayPathBeside(manifest: string, file: string): string {
  return manifest.slice(0, Math.max(manifest.lastIndexOf('/'), manifest.lastIndexOf(':')) + 1) + file;
}
