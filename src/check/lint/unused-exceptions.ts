import { compileInvariants } from '../../engine/invariants/compile-invariants.ts';
import { proveInvariants } from '../../engine/invariants/prove.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { runToEnd } from '../../engine/plan/sliced-work.ts';
import type { Path } from '../../engine/problem/finding.ts';

/** An exception for a route that meets the requirement anyway. */
export interface UnusedException {
  readonly path: Path;
  readonly route: string;
}

/** Returns the exceptions without which the invariants of a manifest would hold too. */
export function findUnusedExceptions(manifest: Manifest, plan: Plan): UnusedException[] {
  const excepting = compileInvariants(manifest, []).filter(({ except }) => except.length > 0);
  const strict = excepting.map((invariant) => ({ ...invariant, except: [] }));
  const proofs = runToEnd(proveInvariants(strict, manifest, plan));
  return excepting.flatMap(({ path, except }, index) => {
    const { violations = [], undecided = [] } = proofs[index] ?? {};
    const needed = new Set([...violations.map(({ route }) => route.id), ...undecided.map(({ id }) => id)]);
    return except.flatMap(({ route }, position) =>
      needed.has(route) ? [] : [{ path: [...path, 'except', position], route }],
    );
  });
}
