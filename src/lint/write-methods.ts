import { CONTENT_METHODS } from '../http-methods.ts';
import type { RouteEntry } from '../manifest/manifest.generated.ts';

/** Whether a route says that it takes bodies. @param any whether `any` says so too */
export function hasWriteMethod({ method }: RouteEntry, any: boolean): boolean {
  return method === 'any' ? any : [method].flat().some((name) => CONTENT_METHODS.has(name));
}
