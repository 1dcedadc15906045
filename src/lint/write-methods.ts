import type { RouteEntry } from '../manifest/manifest.generated.ts';

const WRITES = ['POST', 'PUT', 'PATCH'];

/** Whether a route says that it takes bodies. @param any whether `any` says so too */
export function hasWriteMethod({ method }: RouteEntry, any: boolean): boolean {
  return method === 'any' ? any : [method].flat().some((name) => WRITES.includes(name));
}
