import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Plan } from '../plan/plan.ts';
import type { SlicedWork } from '../plan/sliced-work.ts';
import { errorAt, type Finding } from '../problem/finding.ts';
import { compileInvariants } from './compile-invariants.ts';
import { type Proof, proveInvariants } from './prove.ts';

const RULE = 'invariant-broken';

/** Checks the invariants of a manifest. Returns an error for each route that breaks one of them. */
export function* findBrokenInvariants(manifest: Manifest, plan: Plan): SlicedWork<Finding[]> {
  const findings: Finding[] = [];
  const invariants = compileInvariants(manifest, findings);
  if (findings.length > 0) return findings;
  for (const proof of yield* proveInvariants(invariants, manifest, plan)) findings.push(...findingsOf(proof, plan));
  return findings;
}

function findingsOf({ invariant, violations, undecided }: Proof, plan: Plan): Finding[] {
  const { id, path, why } = invariant;
  const reason = why === undefined ? '' : ` (${why})`;
  const relatedTo = (index: number) => ({ path: ['routes', index], message: 'the route' });
  const broken = violations.map(({ route, witness, member, message }): Finding => {
    const remedy = `change the route, or add it to "except" with a reason`;
    const text = `"${id}"${reason} does not hold: ${witness.method} ${witness.path} goes to "${route.id}", which ${message}; ${remedy}`;
    const related = relatedTo(plan.routes.indexOf(route));
    return { ...errorAt([...path, 'require', member], RULE, text), witness, related };
  });
  const unproven = undecided.map((route): Finding => {
    const text = `"${id}"${reason} is not proven for the route "${route.id}": too many routes overlap with it; make their paths more specific`;
    return { ...errorAt([...path, 'require'], RULE, text), related: relatedTo(plan.routes.indexOf(route)) };
  });
  return [...broken, ...unproven];
}
