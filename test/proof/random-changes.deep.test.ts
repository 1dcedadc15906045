import { expect, it } from 'vitest';
import { randomOf } from '../model/random-case.ts';
import { cases, SEED } from '../support/runs.ts';
import { anyChange } from './any-change.ts';
import { compareAlphabet } from './brute-force.ts';
import { expectTrueProofs, type ProofComparison } from './compared-proofs.ts';
import { createModelDecider } from './model-side.ts';

/** The changes of manifests that load: 200 in the check. */
const COUNT = cases(2_000);
const decidersOf: ProofComparison['decidersOf'] = ([old, next]) => [createModelDecider(old), createModelDecider(next)];

it('a proof agrees with the model on all requests of a small alphabet, and so do its requests', async () => {
  const comparison = { decidersOf, requests: compareAlphabet, unseen: /rate-limit-/ };
  const counts = await expectTrueProofs(COUNT, (seed) => anyChange(randomOf(seed)), comparison, SEED * 1_000_000);
  // At most 2 % of the proofs may be undecided.
  expect(counts.undecided, JSON.stringify(counts)).toBeLessThan(COUNT * 0.02);
  expect(Math.min(counts.holds, counts.broken, counts.equivalent)).toBeGreaterThan(COUNT / 10);
});
