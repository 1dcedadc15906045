import fc from 'fast-check';
import { type AnyManifest, anyManifest } from '../support/any-manifest.ts';

/** Generates a manifest, and another one that retains some of its routes. */
export const anyPair = fc
  .tuple(anyManifest, anyManifest, fc.array(fc.boolean(), { minLength: 7, maxLength: 7 }))
  .map(([old, other, isRetained]): [AnyManifest, AnyManifest] => {
    const retained = old.routes.filter((_, index) => isRetained[index]);
    const ids = new Set(retained.map(({ id }) => id));
    const others = other.routes.filter(({ id }) => !ids.has(id));
    return [old, { ...other, routes: [...retained, ...others] }];
  });
