import type { Path } from '../problem/finding.ts';

/** Returns the key of the route that a path of the manifest belongs to. The validation threads are shared fairly by this key. */
export function routeKeyOf(path: Path): string {
  return path.slice(0, 2).join('/');
}
