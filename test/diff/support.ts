import { load } from '../../src/engine/load.ts';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import type { Difference } from '../../src/prove/diff/difference.ts';
import { createDiffSide, type DiffSide } from '../../src/prove/diff/side.ts';
import { worldOf } from '../support/gateway.ts';

/** Returns a manifest as one side of a comparison, or `undefined` if it does not load. */
export function sideOf(manifest: unknown, name = 'new.yaml'): DiffSide | undefined {
  const loaded = load({ path: name, text: JSON.stringify(manifest) }, worldOf());
  return loaded.plan === undefined ? undefined : createDiffSide(loaded, worldOf().readFile);
}

export function differencesOf(old: unknown, next: unknown): Difference[] {
  const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
  if (before === undefined || now === undefined) throw new Error('a manifest does not load');
  return diff(before, now);
}
