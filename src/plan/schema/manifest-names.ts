/**
 * Whether a text stands in the manifest itself, as a name or a value. What a client's body has for names is the client's
 * own: it may be anything, a secret too.
 *
 * @param root of all schemas and routes
 */
export function createManifestNameCheck(root: unknown): (name: string) => boolean {
  let names: Set<string> | undefined;
  return (name) => {
    // Hardly ever asked: only of what is reported and not refused.
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
