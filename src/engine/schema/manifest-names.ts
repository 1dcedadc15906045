/**
 * Returns a function that is true for texts that the manifest contains as a name or a value. Other names in a client's
 * body may be anything, even a secret.
 *
 * @param root all schemas and routes
 */
export function createManifestNameCheck(root: unknown): (name: string) => boolean {
  let names: Set<string> | undefined;
  return (name) => {
    // Created on first use: only routes with `validation: report` need it.
    if (names === undefined) {
      names = new Set(['params', 'query', 'headers']);
      collect(root, names);
    }
    return names.has(name);
  };
}

function collect(value: unknown, names: Set<string>): void {
  if (typeof value === 'string') names.add(value);
  if (value === null || typeof value !== 'object') return;
  for (const [key, inside] of Object.entries(value)) {
    if (!Array.isArray(value)) names.add(key);
    collect(inside, names);
  }
}
