import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ChangeGroup } from '../../../src/traffic/comparison.ts';
import { cases, IS_DEEP, SEED } from '../../support/runs.ts';
import { anyChange, type ManifestPair } from './any-change.ts';
import { type AnyRequest, anyRequest } from './any-request.ts';
import {
  ComparedGateways,
  type Observation,
  resultOf,
  type Surroundings,
  startSurroundings,
} from './compared-gateways.ts';

const REQUESTS = 20;

const anyCase = fc.record({
  pair: anyChange,
  requests: fc.array(anyRequest, { minLength: REQUESTS, maxLength: REQUESTS }),
  source: fc.constantFrom('file' as const, 'request' as const),
  isShared: fc.boolean(),
});

type Case = typeof anyCase extends fc.Arbitrary<infer Value> ? Value : never;

let surroundings: Surroundings;
beforeAll(async () => {
  surroundings = await startSurroundings();
});
afterAll(() => surroundings.close());

/** Node refuses an empty target and raw characters outside ASCII. */
function targetOf({ targetIn, isForCandidate }: AnyRequest, { active, candidate }: ManifestPair): string {
  return targetIn(isForCandidate ? candidate : active)
    .replace(/^(?=\?|$)/, '/')
    .replaceAll('é', '%C3%A9');
}

/** The requests of a test, and those with an unknown result. */
let counts = { requests: 0, unknown: 0 };

/** Returns the requests for which the candidate does not agree with the gateway that serves it. */
async function disagreements({ pair, requests, source, isShared }: Case, workers: number): Promise<unknown[]> {
  const gateways = await ComparedGateways.start(pair, surroundings, source, isShared, workers);
  if (gateways === undefined) return [];
  const found: unknown[] = [];
  let hasLeft = false;
  for (const request of requests) {
    const target = targetOf(request, pair);
    const { from, to, candidate } = await gateways.send(request, target);
    const result = candidate?.result ?? 'none';
    const expected = from.isParsed ? resultOf(from, to) : 'none';
    counts.requests += 1;
    if (result.startsWith('unknown')) counts.unknown += 1;
    // The gateways may count a request of a client that leaves, or may not.
    hasLeft ||= request.form === 'leaving';
    if (expected === result || expected === 'left' || result.startsWith('unknown')) continue;
    if (hasLeft && [from.status, to.status, statusIn(candidate?.group)].includes(429)) continue;
    if (!isDetailKnown(request, from, to) && from.code === to.code && from.status === to.status) continue;
    const { targetIn: _targetIn, body, ...input } = request;
    const bytes = body?.slice(0, 60);
    found.push({
      expected,
      result,
      ...pair,
      target,
      ...input,
      body: bytes,
      source,
      isShared,
      from,
      to,
      group: candidate?.group,
    });
  }
  await gateways.close();
  return found;
}

/** The response to HEAD has no detail, and a client that leaves may not receive its response. */
function isDetailKnown({ method, form }: AnyRequest, from: Observation, to: Observation): boolean {
  if (from.outcome !== 'refused' || to.outcome !== 'refused') return true;
  return method !== 'HEAD' && (form !== 'leaving' || (from.detail !== undefined && to.detail !== undefined));
}

function statusIn(group: ChangeGroup<unknown> | undefined): number | null | undefined {
  return group?.to.status;
}

// Several workers take a second for each case: they start, and send their results every 100 ms.
it.each([
  ['one worker', 1, cases(150)],
  ['two workers', 2, IS_DEEP ? 30 : 2],
])(
  'the candidate agrees with a gateway that serves it, on random requests to random manifests: %s',
  async (_, workers, count) => {
    const found: unknown[] = [];
    counts = { requests: 0, unknown: 0 };
    for (const each of fc.sample(anyCase, { numRuns: count, seed: SEED }))
      found.push(...(await disagreements(each, workers)));
    expect(found, `seed ${SEED}`).toEqual([]);
    expect(counts.unknown).toBeLessThan(counts.requests / 3);
  },
);
