import { afterAll, beforeAll, expect, it } from 'vitest';
import { randomOf } from '../model/random-case.ts';
import { cases, SEED } from '../support/runs.ts';
import { anyChange } from './any-change.ts';
import { compareAlphabet, SENDINGS } from './brute-force.ts';
import { expectTrueProofs, type ProofComparison } from './compared-proofs.ts';
import { startRunningGateways } from './running-gateways.ts';

/** The changes of manifests that load: 100 in the check. */
const COUNT = cases(1_000);

let gateways: Awaited<ReturnType<typeof startRunningGateways>>;
beforeAll(async () => {
  gateways = await startRunningGateways();
});
afterAll(() => gateways.close());

it('a proof agrees with two running gateways on all requests of a small alphabet, and so do its requests', async () => {
  const comparison = {
    ...gateways,
    requests: (...pair: Parameters<ProofComparison['requests']>) => compareAlphabet(...pair, SENDINGS),
    unseen: /^$/,
  };
  const counts = await expectTrueProofs(COUNT, (seed) => anyChange(randomOf(seed)), comparison, SEED * 2_000_000);
  // At most 2 % of the proofs may be undecided.
  expect(counts.undecided, JSON.stringify(counts)).toBeLessThan(COUNT * 0.02);
  expect(Math.min(counts.holds, counts.broken, counts.equivalent)).toBeGreaterThan(COUNT / 10);
});
