import type { RouteEntry } from '../manifest/manifest.generated.ts';

const WRITES = ['POST', 'PUT', 'PATCH'];

/**
 * True if a route lists a method that sends a body.
 *
 * @param matchesAny the result for the method `any`
 */
export function hasWriteMethod({ method }: RouteEntry, matchesAny: boolean): boolean {
  return method === 'any' ? matchesAny : [method].flat().some((name) => WRITES.includes(name));
}
