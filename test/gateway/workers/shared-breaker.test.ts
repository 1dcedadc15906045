import '../../support/seed.ts';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BreakerRule,
  type BreakerState,
  breakerMemory,
  CircuitBreaker,
  type FailureSource,
} from '../../../src/engine/gateway/circuit-breaker/circuit-breaker.ts';
import { BufferParts, bytesOf, privateParts } from '../../../src/engine/shared-memory/buffer-parts.ts';
import type { BreakerResult, BreakerRun } from '../../support/breaker-thread.ts';
import { cases, runs } from '../../support/runs.ts';

const WORKERS = 3;

const RULES = fc.record({
  failures: fc.integer({ min: 1, max: 6 }),
  pauseMs: fc.constantFrom(100, 5_000, 60_000),
  isTrialForOthersFirst: fc.boolean(),
});

const STEPS = fc.array(
  fc.record({
    worker: fc.nat(WORKERS - 1),
    client: fc.constantFrom('a', 'b', 'c', 'd'),
    act: fc.constantFrom('begin', 'try', 'response', 'success', 'failure', 'wait', 'long wait'),
    source: fc.constantFrom<FailureSource>('endpoint', 'request', 'request', 'client', 'gateway'),
  }),
  { maxLength: 80 },
);

type Step = typeof STEPS extends fc.Arbitrary<(infer Each)[]> ? Each : never;

/** Returns all that can be seen of some breakers with the same memory. The steps go to the one that `breakerOf` selects. */
function trace(rule: BreakerRule, steps: readonly Step[], breakerOf: (step: Step) => number): unknown[] {
  let now = 0;
  const states: BreakerState[] = [];
  const memory = privateParts((parts) => breakerMemory(parts, rule));
  const breakers = Array.from(
    { length: WORKERS },
    (_, worker) => new CircuitBreaker(rule, { publish: (state) => states.push(state), now: () => now, memory, worker }),
  );
  let trial = 0;
  return steps.map((step) => {
    const { act, client, source } = step;
    const breaker = breakers[breakerOf(step)] as CircuitBreaker;
    if (act === 'begin') trial = breaker.beginRequest(client, true) ?? Number.NaN;
    else if (act === 'try') trial = breaker.beginRequest(client) ?? trial;
    else if (act === 'response') breaker.recordResponse();
    else if (act === 'success') breaker.recordSuccess();
    else if (act === 'failure') breaker.recordFailure(source, client, trial);
    else now += act === 'wait' ? 30 : 2_000;
    const seen = breakers.map((each) => [each.state, each.openings, each.isAllowed()]);
    const allowed = ['a', 'b', 'e'].map((name) => breaker.isAllowed(name));
    return { seen, allowed, trial, states: [...states] };
  });
}

describe('breakers with one memory', () => {
  it('behave as one breaker, whichever of them is used', () => {
    fc.assert(
      fc.property(RULES, STEPS, (rule, steps) => {
        const one = trace(rule, steps, () => 0);
        expect(trace(rule, steps, ({ worker }) => worker)).toEqual(one);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('allow a request exactly if `beginRequest` lets it through', () => {
    fc.assert(
      fc.property(RULES, STEPS, (rule, steps) => {
        let now = 0;
        const breaker = new CircuitBreaker(rule, { now: () => now });
        for (const { act, client, source } of steps) {
          if (act === 'failure') breaker.recordFailure(source, client, breaker.openings);
          else if (act === 'response') breaker.recordResponse();
          else if (act.endsWith('wait')) now += act === 'wait' ? 30 : 2_000;
          else expect(breaker.isAllowed(client)).toBe(breaker.beginRequest(client) !== undefined);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe('breakers of several threads', () => {
  async function run(rule: BreakerRule, buffer: SharedArrayBuffer, threads: number, options: Partial<BreakerRun>) {
    return Promise.all(
      Array.from({ length: threads }, (_, index) => {
        const settings = { index, rule, buffer, failures: 0, requests: 0, now: 1_000, ...options };
        const url = new URL('../../support/breaker-thread.ts', import.meta.url);
        const thread = new Worker(url, { workerData: { kind: 'breaker', run: settings } });
        return new Promise<BreakerResult>((resolve, reject) => thread.on('message', resolve).on('error', reject));
      }),
    );
  }

  it('count each failure once and let exactly one trial through', async () => {
    const threads = 4;
    const failures = cases(5_000);
    const rule = { failures: threads * failures + 1, pauseMs: 60_000 };
    const buffer = new SharedArrayBuffer(bytesOf((parts) => breakerMemory(parts, rule)));
    await run(rule, buffer, threads, { failures });
    const memory = breakerMemory(new BufferParts(buffer), rule);
    const breaker = new CircuitBreaker(rule, { now: () => 1_000, memory });
    expect(breaker.state).toBe('closed');
    breaker.recordFailure('endpoint', 'last', 0);
    expect([breaker.state, breaker.openings]).toEqual(['open', 1]);
    const requests = 1_000;
    const results = await run(rule, buffer, threads, { requests, now: 61_000 });
    const sum = (name: keyof BreakerResult) => results.reduce((total, result) => total + result[name], 0);
    expect([sum('trials'), sum('refusals')]).toEqual([1, threads * requests - 1]);
  });
});
