import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { runs } from '../support/runs.ts';
import { anyPair } from './any-pair.ts';
import { caseNames, sideOfCase } from './cases.ts';
import { isTreatedDifferently, offlineSide } from './outcomes.ts';
import { sideOf } from './support.ts';

/** The number of compared pairs. */
const RUNS = 60;

/** A larger body would take long to send. */
const MAX_BODY_BYTES = 16 * 1024 ** 2;

/** Returns the differences whose request both gateways treat alike, and the number of requests. */
async function checkWitnesses(before: DiffSide, now: DiffSide) {
  const [old, next] = [offlineSide(before), offlineSide(now)];
  const wrong: unknown[] = [];
  const shown = new Set<string>();
  for (const difference of diff(before, now)) {
    const request = difference.witness?.request;
    if (request === undefined || (request.bodyBytes ?? 0) > MAX_BODY_BYTES) continue;
    const body = 'body' in (difference.witness ?? {}) ? { body: JSON.stringify(difference.witness?.body) } : {};
    if (await isTreatedDifferently(old, next, { ...body, ...request })) shown.add(difference.rule);
    else wrong.push({ rule: difference.rule, message: difference.message, witness: difference.witness });
  }
  return { wrong, shown };
}

/** Kinds that always have a request. */
const WITH_REQUEST = [
  'route-public',
  'route-protected',
  'route-shadowed',
  'route-removed',
  'route-narrowed',
  'route-added',
  'route-added-public',
  'body-loosened',
  'body-tightened',
  'media-types-widened',
  'media-types-narrowed',
  'parameters-loosened',
  'parameters-tightened',
  'validation-reported',
  'validation-enforced',
  'limit-raised',
  'limit-lowered',
  'upstream-changed',
  'upstream-path-changed',
  'headers-changed',
  'header-override-kept',
  'header-override-dropped',
  'websocket-opened',
  'websocket-closed',
  'websocket-origins-widened',
  'websocket-origins-narrowed',
  'encoded-slash-kept',
  'encoded-slash-refused',
];

describe('the request of a difference', () => {
  test.each(caseNames)('shows the case %s', async (name) => {
    const { wrong, shown } = await checkWitnesses(sideOfCase(name, 'old'), sideOfCase(name, 'new'));
    expect(wrong).toEqual([]);
    if (WITH_REQUEST.includes(name)) expect([...shown]).toContain(name);
  });

  it('shows the differences of random manifests', async () => {
    const counts = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(anyPair, async ([old, next]) => {
        const [before, now] = [sideOf(old, 'old.yaml'), sideOf(next)];
        fc.pre(before !== undefined && now !== undefined);
        if (before === undefined || now === undefined) return;
        const { wrong, shown } = await checkWitnesses(before, now);
        expect(wrong).toEqual([]);
        for (const rule of shown) counts.set(rule, (counts.get(rule) ?? 0) + 1);
      }),
      { numRuns: runs(RUNS) },
    );
    expect(counts.size).toBeGreaterThan(10);
  });
});
