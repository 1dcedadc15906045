import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ComparisonResult } from '../../../src/traffic/compare-outcomes.ts';
import { cases, SEED } from '../../support/runs.ts';
import { createBaseManifest, createRandomRequest, MUTATIONS, Random } from './random-traffic.ts';
import { observedChange, replayLines, startTrafficSite, type TrafficSite } from './replayed-traffic.ts';

/** Outcomes that do not depend on the plan, so that no plan reproduces them. */
const UNDECIDED: readonly string[] = ['no-decision', 'client-left'];

let site: TrafficSite;
beforeAll(async () => {
  site = await startTrafficSite();
});
afterAll(() => site.close());

function createTraffic(random: Random, count: number, isSeveral?: boolean) {
  const manifest = createBaseManifest(random, site.urls, isSeveral);
  const requests = Array.from({ length: count }, () => createRandomRequest(random, site.tokens));
  return { manifest, requests };
}

const nameOf = (result: ComparisonResult) =>
  result.result === 'changed' ? result.kind : result.result === 'unknown' ? `unknown ${result.reason}` : 'same';

describe('the replay of random requests', () => {
  it.each([false, true])(
    'reproduces every outcome by the manifest that wrote the log; two issuers: %s',
    async (isSeveral) => {
      const { manifest, requests } = createTraffic(new Random(SEED), cases(2_500), isSeveral);
      const { served, planned } = await site.serve(JSON.stringify(manifest), requests);
      const { calibrations, comparisons } = replayLines(
        served.map(({ line }) => line),
        planned,
        planned,
      );
      expect(calibrations).toHaveLength(requests.length);
      for (const [index, result] of [...calibrations, ...comparisons].entries()) {
        if (result.result === 'unknown' && UNDECIDED.includes(result.reason)) continue;
        expect(nameOf(result), `seed ${SEED}: ${JSON.stringify(served[index % served.length]?.line)}`).toBe('same');
      }
    },
  );

  it.each(Object.keys(MUTATIONS))('decides as a gateway with another manifest does: %s', async (name) => {
    const random = new Random(SEED * 1_000 + Object.keys(MUTATIONS).indexOf(name));
    const { manifest, requests } = createTraffic(random, cases(400), name.startsWith('issuer') || undefined);
    const mutated = structuredClone(manifest);
    MUTATIONS[name]?.(mutated, random);
    const before = await site.serve(JSON.stringify(manifest), requests);
    const after = await site.serve(JSON.stringify(mutated), requests);
    const { comparisons } = replayLines(
      before.served.map(({ line }) => line),
      before.planned,
      after.planned,
    );
    let decided = 0;
    for (const [index, result] of comparisons.entries()) {
      if (result.result === 'unknown') continue;
      decided += 1;
      const [one, other] = [before.served[index], after.served[index]];
      if (one === undefined || other === undefined) throw new Error('a request has no line');
      const context = `seed ${SEED}, request ${index}: ${JSON.stringify(one.line)}, then ${JSON.stringify(other.line)}`;
      expect(nameOf(result), context).toBe(observedChange(one, other));
    }
    // A change of the header limit makes every request unknown, and one of CORS every refusal: a log has no origin.
    if (name !== 'header count' && name !== 'cors') expect(decided).toBeGreaterThan(requests.length / 2);
  });
});
