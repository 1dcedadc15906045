import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Refusal, RefusalCode } from '../../../src/engine/gateway/response/refusal.ts';
import { RequestMetrics } from '../../../src/engine/gateway/telemetry/request-metrics.ts';
import type { RequestRecord } from '../../../src/engine/gateway/telemetry/request-record.ts';
import {
  type CountersNotice,
  NO_ROUTE,
  TOTALS_INDEX,
  TOTALS_LENGTH,
} from '../../../src/engine/gateway/telemetry/route-metrics.ts';
import type { Route } from '../../../src/engine/plan/route-definition.ts';
import { runs } from '../../support/runs.ts';
import '../../support/seed.ts';

const WORKERS = 3;
const IDS = ['a', 'b', 'c', 'd'];

function recordOf(id: string | undefined, status: number, code?: RefusalCode): RequestRecord {
  const route = id === undefined ? undefined : ({ id, upstream: { id: `up-${id}` } } as unknown as Route);
  const refusal = code === undefined ? undefined : ({ code, reason: code } as Refusal);
  const forwardedAfterMs = refusal === undefined ? 1 : undefined;
  return { method: 'GET', status, route, refusal, durationMs: status / 10, forwardedAfterMs } as RequestRecord;
}

/** The metrics of a process: those of worker 0, which receives the notices of the others later. */
class SimulatedProcess {
  readonly main = new RequestMetrics();
  readonly workers = Array.from({ length: WORKERS }, () => new RequestMetrics());
  readonly notices: CountersNotice[][] = this.workers.map(() => []);
  readonly inFlight = [0, ...this.workers.map(() => 0)];
  ids = new Set(IDS);
  readonly idsOf: Set<string>[] = this.workers.map(() => this.ids);
  requests = 0;
  refused = 0;

  constructor() {
    for (const index of this.workers.keys()) this.#share(index);
  }

  metricsOf(index: number): RequestMetrics {
    return index === 0 ? this.main : (this.workers[index - 1] as RequestMetrics);
  }

  begin(index: number): void {
    this.metricsOf(index).begin();
    this.inFlight[index] = (this.inFlight[index] ?? 0) + 1;
  }

  end(index: number, id: string | undefined, status: number): void {
    if (this.inFlight[index] === 0) this.begin(index);
    this.inFlight[index] = (this.inFlight[index] ?? 0) - 1;
    const code = status === 403 ? 'role_not_allowed' : undefined;
    this.metricsOf(index).record(recordOf(id, status, code));
    this.requests += 1;
    if (code !== undefined) this.refused += 1;
  }

  /** Activates a plan in the main thread. The workers follow later, in `follow`. */
  reload(ids: Set<string>): void {
    for (const index of this.workers.keys()) this.follow(index);
    this.ids = ids;
    retain(this.main, ids);
  }

  follow(index: number): void {
    if (this.idsOf[index] === this.ids) return;
    this.idsOf[index] = this.ids;
    retain(this.workers[index] as RequestMetrics, this.ids);
  }

  deliver(index: number, count: number): void {
    for (const notice of this.notices[index]?.splice(0, count) ?? []) this.main.receive(index + 1, notice);
  }

  /** The messages that a thread has sent arrive before the event of its end. */
  die(index: number): void {
    this.deliver(index, Number.POSITIVE_INFINITY);
    this.main.forget(index + 1);
    this.workers[index] = new RequestMetrics();
    this.inFlight[index + 1] = 0;
    this.idsOf[index] = this.ids;
    this.#share(index);
  }

  settle(): void {
    for (const index of this.workers.keys()) {
      this.follow(index);
      this.deliver(index, Number.POSITIVE_INFINITY);
    }
  }

  #share(index: number): void {
    this.workers[index]?.share((notice) => this.notices[index]?.push(notice));
  }
}

function retain(metrics: RequestMetrics, ids: ReadonlySet<string>): void {
  metrics.retain(ids, new Set(Array.from(ids, (id) => `up-${id}`)));
}

function requestsIn(totals: Float64Array): number {
  return totals.slice(0, TOTALS_INDEX.classes).reduce((sum, count) => sum + count, 0);
}

const index = fc.nat({ max: WORKERS });
const other = fc.nat({ max: WORKERS - 1 });
const step = fc.oneof(
  { weight: 2, arbitrary: index.map((at) => (simulated: SimulatedProcess) => simulated.begin(at)) },
  {
    weight: 8,
    arbitrary: fc.tuple(index, fc.constantFrom(undefined, ...IDS), fc.constantFrom(0, 200, 403, 500)).map(
      ([at, id, status]) =>
        (simulated: SimulatedProcess) =>
          simulated.end(at, id, status),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.subarray(IDS).map((ids) => (simulated: SimulatedProcess) => simulated.reload(new Set(ids))),
  },
  { weight: 2, arbitrary: other.map((at) => (simulated: SimulatedProcess) => simulated.follow(at)) },
  {
    weight: 4,
    arbitrary: fc.tuple(other, fc.integer({ min: 1, max: 3 })).map(
      ([at, count]) =>
        (simulated: SimulatedProcess) =>
          simulated.deliver(at, count),
    ),
  },
  { weight: 1, arbitrary: other.map((at) => (simulated: SimulatedProcess) => simulated.die(at)) },
);

describe('the metrics of several workers', () => {
  it('are exact once all notices have arrived, and never go back before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const simulated = new SimulatedProcess();
        let before: Float64Array = new Float64Array(TOTALS_LENGTH);
        let refusals = 0;
        for (const run of steps) {
          run(simulated);
          const totals = simulated.main.totals();
          for (const [at, total] of totals.entries()) expect(total).toBeGreaterThanOrEqual(before[at] as number);
          const refused = simulated.main.refusals.get('role_not_allowed') ?? 0;
          expect(refused).toBeGreaterThanOrEqual(refusals);
          [before, refusals] = [totals, refused];
        }
        simulated.settle();
        expect(requestsIn(simulated.main.totals())).toBe(simulated.requests);
        expect(simulated.main.refusals.get('role_not_allowed') ?? 0).toBe(simulated.refused);
        expect(simulated.main.inFlight).toBe(simulated.inFlight.reduce((sum, count) => sum + count, 0));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('have the requests of a route from all workers, in one histogram', () => {
    const simulated = new SimulatedProcess();
    for (const at of [0, 1, 1, 2]) simulated.end(at, 'a', 200);
    simulated.end(3, undefined, 403);
    simulated.settle();
    const metrics = simulated.main.routes.get('a');
    expect(metrics?.requests).toEqual([{ method: 'GET', status: '2xx', count: 4 }]);
    expect(metrics?.histogram('total')).toMatchObject({ sumMs: 80 });
    expect(metrics?.histogram('total').counts.reduce((sum, count) => sum + count, 0)).toBe(4);
    expect([...(simulated.main.routes.get(NO_ROUTE)?.refusals ?? [])]).toEqual([['role_not_allowed', 1]]);
  });

  it('keep the counts of a worker that ends, without its requests in flight', () => {
    const simulated = new SimulatedProcess();
    simulated.begin(1);
    simulated.begin(1);
    simulated.end(1, 'a', 200);
    simulated.begin(2);
    simulated.settle();
    expect(simulated.main.inFlight).toBe(2);
    simulated.die(0);
    expect(simulated.main.inFlight).toBe(1);
    simulated.end(1, 'a', 200);
    simulated.settle();
    expect(simulated.main.routes.get('a')?.requests).toEqual([{ method: 'GET', status: '2xx', count: 2 }]);
  });

  it('free the arrays of removed routes', () => {
    const simulated = new SimulatedProcess();
    const arrays: Float64Array[] = [];
    for (let round = 0; round < 10; round += 1) {
      for (const at of [0, 1, 2, 3]) simulated.end(at, 'a', 200);
      for (const { buffer } of simulated.notices.flat())
        if (buffer !== undefined) arrays.push(new Float64Array(buffer));
      simulated.settle();
      simulated.reload(new Set(round % 2 === 0 ? [] : ['a']));
    }
    simulated.reload(new Set());
    simulated.settle();
    expect(simulated.main.routes.size).toBe(0);
    // An array that the main thread still read would change the totals.
    for (const array of arrays) array.fill(7);
    expect(arrays.length).toBeGreaterThan(30);
    expect(requestsIn(simulated.main.totals())).toBe(40);
  });
});
