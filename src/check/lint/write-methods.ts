import { CONTENT_METHODS } from '../../engine/http1/http-methods.ts';
import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';

/**
 * True if a route lists a method that sends a body.
 *
 * @param matchesAny the result for the method `any`
 */
export function hasWriteMethod({ method }: RouteEntry, matchesAny: boolean): boolean {
  return method === 'any' ? matchesAny : [method].flat().some((name) => CONTENT_METHODS.has(name));
}
