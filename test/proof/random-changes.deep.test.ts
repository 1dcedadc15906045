import { expect, it } from 'vitest';
import { type ChangeProof, type ChangeProperty, proveChange } from '../../src/prove/proof/prove-change.ts';
import { offlineSide, outcomeOf } from '../diff/outcomes.ts';
import { sideOf } from '../diff/support.ts';
import { cases, SEED } from '../support/runs.ts';
import { anyChange, createRandom } from './any-change.ts';
import { bruteForce } from './brute-force.ts';
import { resultsOf } from './support.ts';

/** The changes of manifests that load: 60 in the check. */
const COUNT = cases(600);
/** The share of proofs that may be undecided. */
const MAX_UNDECIDED = 0.02;

it('a proof agrees with all requests of a small alphabet, and its requests show the change', async () => {
  const counts = { pairs: 0, holds: 0, broken: 0, undecided: 0, equivalent: 0 };
  for (let seed = SEED * 1_000_000; counts.pairs < COUNT; seed += 1) {
    const { old, next, mutations } = anyChange(createRandom(seed));
    const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
    if (before === undefined || now === undefined) continue;
    const label = `seed ${seed}: ${mutations.join(', ')}`;
    const prove = (property: ChangeProperty) => proveChange(before, now, property);
    const [access, equivalence] = [await prove('no-new-access'), await prove('equivalent')];
    // Another runner repeats the requests of the other proofs.
    const isProven = access.holds || equivalence.holds;
    const { opened, changed } = isProven ? await bruteForce(before, now) : { opened: undefined, changed: undefined };
    if (access.holds) expect(opened, label).toBe(undefined);
    if (equivalence.holds) expect(changed, label).toBe(undefined);
    for (const proof of [access, equivalence]) await expectShown(proof, offlineSide(before), offlineSide(now), label);
    counts.pairs += 1;
    if (access.holds) counts.holds += 1;
    else if (resultsOf(access).shown.length > 0) counts.broken += 1;
    else counts.undecided += 1;
    if (equivalence.holds) counts.equivalent += 1;
  }
  expect(counts.undecided, JSON.stringify(counts)).toBeLessThanOrEqual(COUNT * MAX_UNDECIDED);
  expect(Math.min(counts.holds, counts.broken, counts.equivalent)).toBeGreaterThan(COUNT / 10);
});

/** Checks each request by another runner. Requests that are repeated, or whose response matters, have no witness there. */
async function expectShown(
  proof: ChangeProof,
  old: ReturnType<typeof offlineSide>,
  next: ReturnType<typeof offlineSide>,
  label: string,
): Promise<void> {
  for (const { rule, witness } of resultsOf(proof).shown) {
    const request = witness?.request;
    if (request === undefined || /^(?:rate-limit|login)-/.test(rule)) continue;
    const [was, is] = [(await outcomeOf(old, request)) as Outcome, (await outcomeOf(next, request)) as Outcome];
    expect({ ...is, route: '' }, `${label}: ${rule}`).not.toEqual({ ...was, route: '' });
    if (proof.property === 'equivalent') continue;
    expect(is.refusal, `${label}: ${rule}`).toBe(undefined);
    const isElsewhere = JSON.stringify(was.upstream) !== JSON.stringify(is.upstream);
    expect(was.refusal !== undefined || isElsewhere, `${label}: ${rule}`).toBe(true);
  }
}

interface Outcome {
  readonly refusal: string | undefined;
  readonly upstream: unknown;
}
