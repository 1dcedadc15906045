import '../support/seed.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HealthState } from '../../src/engine/gateway/upstream/health-check.ts';
import { ObservedHealth, observedHealthMemory } from '../../src/engine/gateway/upstream/observed-health.ts';
import { privateParts } from '../../src/engine/shared-memory/buffer-parts.ts';
import { runs } from '../support/runs.ts';

/** Creates an observation whose clock the test advances. */
function observe() {
  let now = 1;
  const health = new ObservedHealth({ now: () => now });
  const begin = (client = 'a', status = 200) => health.recordResponse(status, client, now);
  const succeed = (client = 'a', status = 200) => {
    begin(client, status);
    health.recordCompletion(status);
  };
  const fail = (client = 'a') => health.recordFailure('endpoint', client, 'upstream_econnrefused', 0);
  const provoke = (client = 'a') => health.recordFailure('request', client, 'upstream_econnreset', 0);
  const wait = (ms: number) => {
    now += ms;
  };
  return { health, begin, succeed, fail, provoke, wait };
}

function repeat(count: number, act: () => void): void {
  for (let index = 0; index < count; index += 1) act();
}

describe('the health by requests', () => {
  it('is unknown without a request in the last minute', () => {
    const { health, succeed, fail, wait } = observe();
    expect(health.state).toBe('unknown');
    for (const [act, state] of [
      [succeed, 'healthy'],
      [fail, 'unhealthy'],
    ] as const) {
      act();
      wait(59_999);
      expect(health.state).toBe(state);
      wait(1);
      expect([health.state, health.reason]).toEqual(['unknown', undefined]);
    }
  });

  it('follows the latest results once they have all been the same for a second', () => {
    const { health, succeed, fail, wait } = observe();
    repeat(1_000, succeed);
    repeat(3, fail);
    expect(health.state).toBe('healthy');
    wait(1_000);
    expect([health.state, health.reason]).toEqual(['unhealthy', 'upstream_econnrefused']);
    repeat(1_000, fail);
    wait(0.01);
    succeed();
    expect(health.state).toBe('unhealthy');
    wait(1_000);
    expect(health.state).toBe('healthy');
  });

  it.each([
    [0.01, 'healthy'],
    [0.3, 'healthy'],
    [0.7, 'unhealthy'],
    [0.99, 'unhealthy'],
  ] as const)('is stable while a share of %s of many requests fails', (share, expected) => {
    const { health, succeed, fail, wait } = observe();
    const states = new Set<HealthState>();
    // Deterministic, and spread evenly.
    for (let index = 1; index <= 60_000; index += 1) {
      wait(1);
      if (Math.floor(index * share) > Math.floor((index - 1) * share)) fail();
      else succeed();
      if (index > 15_000) states.add(health.state);
    }
    expect([...states]).toEqual([expected]);
  });

  it('needs several failures in a row that a request may provoke, and no success between them', () => {
    const { health, succeed, provoke, wait } = observe();
    repeat(50, () => {
      repeat(2, provoke);
      succeed();
      wait(2_000);
    });
    expect(health.state).toBe('healthy');
    repeat(3, provoke);
    wait(1_000);
    expect([health.state, health.reason]).toEqual(['unhealthy', 'upstream_econnreset']);
  });

  it('ignores provoked failures with more than a minute between them', () => {
    const { health, provoke, wait } = observe();
    repeat(20, () => {
      provoke();
      wait(60_000);
    });
    expect(health.state).toBe('unknown');
    provoke();
    expect(health.state).toBe('unknown');
  });

  it('counts a response that begins well and breaks as a failure', () => {
    const { health, begin, wait } = observe();
    repeat(10, () => {
      begin();
      health.recordFailure('request', 'a', 'upstream_connection_closed', 200);
      wait(100);
    });
    expect(health.state).toBe('unhealthy');
  });

  it.each([
    [502, 'unhealthy'],
    [503, 'unhealthy'],
    [504, 'unhealthy'],
    [500, 'unknown'],
    [501, 'unknown'],
    [599, 'unknown'],
    [404, 'healthy'],
    [429, 'healthy'],
    [101, 'healthy'],
  ] as const)('takes responses with the status %i for an endpoint that is %s', (status, expected) => {
    const { health, succeed, wait } = observe();
    repeat(3, () => succeed('a', status));
    wait(1_000);
    expect(health.state).toBe(expected);
  });
});

const CLIENTS = fc.constantFrom('a', 'b', 'c');
const PAUSE = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 3_000 }), fc.constant(61_000));

describe('for random requests, the health by requests', () => {
  it('is never unhealthy because of a client or of the gateway', () => {
    const event = fc.record({
      act: fc.constantFrom('success', 'error', 'client', 'gateway'),
      client: CLIENTS,
      pause: PAUSE,
      status: fc.constantFrom(0, 200, 500),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const { health, succeed, wait } = observe();
        for (const { act, client, pause, status } of events) {
          wait(pause);
          if (act === 'success') succeed(client);
          else if (act === 'error') succeed(client, 500);
          else health.recordFailure(act as 'client' | 'gateway', client, 'x', status);
          expect(health.state).not.toBe('unhealthy');
        }
      }),
    );
  });

  it('is never unhealthy because of one client while others use the endpoint', () => {
    const event = fc.record({ isHostile: fc.boolean(), pause: fc.integer({ min: 0, max: 5_000 }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 100 }), (events) => {
        const { health, succeed, provoke, wait } = observe();
        succeed('b');
        succeed('a');
        for (const { isHostile, pause } of events) {
          wait(pause);
          if (isHostile) repeat(5, () => provoke('a'));
          else succeed('b');
          expect(health.state).not.toBe('unhealthy');
        }
      }),
    );
  });

  it('equals a sum over all earlier requests, also those of other workers', () => {
    const event = fc.record({ isSuccess: fc.boolean(), pause: PAUSE, client: CLIENTS, worker: fc.nat(2) });
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 60 }), PAUSE, (events, rest) => {
        let now = 0;
        const memory = privateParts((parts) => observedHealthMemory(parts, 3));
        const [health, ...others] = [0, 1, 2].map(
          (index) => new ObservedHealth({ now: () => now, memory, worker: { index, count: 3 } }),
        ) as [ObservedHealth, ObservedHealth, ObservedHealth];
        const results: { at: number; isSuccess: boolean }[] = [];
        const expectedState = (): HealthState => {
          const ages = (isSuccess: boolean) =>
            results.filter((result) => result.isSuccess === isSuccess).map(({ at }) => now - at);
          const [successes, failures] = [ages(true), ages(false)];
          const [success, failure] = [Math.min(...successes), Math.min(...failures)];
          if (success >= 60_000 && failure >= 60_000) return 'unknown';
          if (success >= 1_000 || failure >= 1_000) return results.at(-1)?.isSuccess ? 'healthy' : 'unhealthy';
          const weigh = (list: number[]) => list.reduce((sum, age) => sum + 2 ** (-age / 10_000), 0);
          const difference = weigh(failures) - weigh(successes);
          // Equal weights may differ by a rounding error.
          if (Math.abs(difference) < 1e-9) return health.state;
          return difference > 0 ? 'unhealthy' : 'healthy';
        };
        for (const { isSuccess, pause, client, worker } of events) {
          // Two workers have no order within one moment.
          now += pause + 0.01;
          const observer = [health, ...others][worker] as ObservedHealth;
          if (isSuccess) observer.recordResponse(200, client, now);
          else observer.recordFailure('endpoint', client, 'upstream_econnrefused', 0);
          results.push({ at: now, isSuccess });
          expect(health.state).toBe(expectedState());
        }
        now += rest;
        expect(health.state).toBe(expectedState());
      }),
      { numRuns: runs(300) },
    );
  });
});
