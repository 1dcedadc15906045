import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Refusal, RefusalCode } from '../../../src/engine/gateway/response/refusal.ts';
import { AT, NO_ROUTE, requestBuffer, TOTALS_INDEX } from '../../../src/engine/gateway/telemetry/request-counters.ts';
import { RequestMetrics } from '../../../src/engine/gateway/telemetry/request-metrics.ts';
import type { RequestRecord } from '../../../src/engine/gateway/telemetry/request-record.ts';
import type { Route } from '../../../src/engine/plan/route-definition.ts';
import { SharedMemory } from '../../../src/engine/shared-memory/worker-context.ts';
import { runs } from '../../support/runs.ts';
import '../../support/seed.ts';

const WORKERS = 4;
const IDS = ['a', 'b', 'c', 'd'];

function recordOf(id: string | undefined, status: number, code?: RefusalCode): RequestRecord {
  const route = id === undefined ? undefined : ({ id, upstream: { id: `up-${id}` } } as unknown as Route);
  const refusal = code === undefined ? undefined : ({ code, reason: code } as Refusal);
  const forwardedAfterMs = refusal === undefined ? 1 : undefined;
  return { method: 'GET', status, route, refusal, durationMs: status / 10, forwardedAfterMs } as RequestRecord;
}

/** The metrics of all workers of a process. */
class SimulatedProcess {
  readonly memory = new SharedMemory();
  readonly workers: RequestMetrics[] = [];
  ids: readonly string[] = IDS;
  readonly idsOf: (readonly string[])[] = [];
  readonly inFlight: number[] = [];
  requests = 0;
  refused = 0;

  constructor() {
    for (let index = 0; index < WORKERS; index += 1) this.start(index);
  }

  get main(): RequestMetrics {
    return this.workers[0] as RequestMetrics;
  }

  start(index: number): void {
    this.workers[index] = new RequestMetrics(planOf(this.ids), { index, count: WORKERS, memory: this.memory });
    this.idsOf[index] = this.ids;
    this.inFlight[index] = 0;
  }

  begin(index: number): void {
    this.workers[index]?.begin();
    this.inFlight[index] = (this.inFlight[index] ?? 0) + 1;
  }

  end(index: number, id: string | undefined, status: number): void {
    if (this.inFlight[index] === 0) this.begin(index);
    this.inFlight[index] = (this.inFlight[index] ?? 0) - 1;
    const code = status === 403 ? 'role_not_allowed' : undefined;
    this.workers[index]?.record(recordOf(id, status, code));
    this.requests += 1;
    if (code !== undefined) this.refused += 1;
  }

  /** Activates a plan in the main thread, once all workers have the last one. The workers follow later, in `follow`. */
  reload(ids: readonly string[]): void {
    for (const index of this.workers.keys()) this.follow(index);
    this.ids = ids;
    this.follow(0);
  }

  follow(index: number): void {
    if (this.idsOf[index] === this.ids) return;
    this.idsOf[index] = this.ids;
    const plan = planOf(this.ids);
    this.workers[index]?.activate(plan);
    // Gateways do it after each activation.
    if (index === 0) this.memory.retain(new Set([requestBuffer(plan, WORKERS).name]));
  }

  /** Ends a worker that is not the main thread, and starts its successor. */
  die(index: number): void {
    this.main.forget(index);
    this.start(index);
  }

  requestsOf(id: string) {
    return new Map(this.main.routes).get(id)?.requests ?? [];
  }
}

function planOf(ids: readonly string[]) {
  return { routes: ids.map((id) => ({ id })), upstreams: ids.map((id) => ({ id: `up-${id}` })) };
}

function requestsIn(totals: Float64Array): number {
  return totals.slice(0, TOTALS_INDEX.classes).reduce((sum, count) => sum + count, 0);
}

const index = fc.nat({ max: WORKERS - 1 });
const other = fc.integer({ min: 1, max: WORKERS - 1 });
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
  { weight: 1, arbitrary: fc.subarray(IDS).map((ids) => (simulated: SimulatedProcess) => simulated.reload(ids)) },
  { weight: 2, arbitrary: other.map((at) => (simulated: SimulatedProcess) => simulated.follow(at)) },
  { weight: 1, arbitrary: other.map((at) => (simulated: SimulatedProcess) => simulated.die(at)) },
);

describe('the metrics of several workers', () => {
  it('are exact at any time, over reloads and the ends of workers', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const simulated = new SimulatedProcess();
        for (const run of steps) {
          run(simulated);
          expect(requestsIn(simulated.main.totals())).toBe(simulated.requests);
          expect(simulated.main.refusals.get('role_not_allowed') ?? 0).toBe(simulated.refused);
          expect(simulated.main.inFlight).toBe(simulated.inFlight.reduce((sum, count) => sum + count, 0));
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('of a route never go back while reloads keep it', () => {
    const kept = fc
      .subarray(IDS.slice(1))
      .map((ids) => (simulated: SimulatedProcess) => simulated.reload(['a', ...ids]));
    const steps = fc.array(fc.oneof({ weight: 6, arbitrary: step }, { weight: 1, arbitrary: kept }), {
      maxLength: 120,
    });
    fc.assert(
      fc.property(steps, (all) => {
        const simulated = new SimulatedProcess();
        let before = 0;
        for (const run of all) {
          run(simulated);
          if (!simulated.ids.includes('a')) before = 0;
          const count = simulated.requestsOf('a').reduce((sum, { count }) => sum + count, 0);
          expect(count).toBeGreaterThanOrEqual(before);
          before = count;
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('have the requests of a route from all workers, in one histogram', () => {
    const simulated = new SimulatedProcess();
    for (const at of [0, 1, 1, 2]) simulated.end(at, 'a', 200);
    simulated.end(2, undefined, 403);
    expect(simulated.requestsOf('a')).toEqual([{ method: 'GET', status: '2xx', count: 4 }]);
    const routes = new Map(simulated.main.routes);
    const { counts, sumMs } = routes.get('a')?.histogram(AT.time) ?? {};
    expect([sumMs, counts?.reduce((sum, count) => sum + count, 0)]).toEqual([80, 4]);
    expect([...routes.keys()]).toEqual(['a', NO_ROUTE]);
    expect([...(routes.get(NO_ROUTE)?.refusals ?? [])]).toEqual([['role_not_allowed', 1]]);
    const upstreams = new Map(simulated.main.upstreams);
    expect(upstreams.get('up-a')?.histogram(AT.gatewayTime).sumMs).toBe(4);
    expect(upstreams.get('up-a')?.histogram(AT.time).sumMs).toBe(76);
    expect(upstreams.get(NO_ROUTE)?.histogram(AT.gatewayTime).sumMs).toBe(40.3);
  });

  it('keep the counts of a worker that ends, without its requests in flight', () => {
    const simulated = new SimulatedProcess();
    simulated.begin(1);
    simulated.begin(1);
    simulated.end(1, 'a', 200);
    simulated.begin(2);
    expect(simulated.main.inFlight).toBe(2);
    simulated.die(1);
    expect(simulated.main.inFlight).toBe(1);
    simulated.end(1, 'a', 200);
    expect(simulated.requestsOf('a')).toEqual([{ method: 'GET', status: '2xx', count: 2 }]);
  });

  it('count a request of a worker that has not activated the plan yet, and continue over further reloads', () => {
    const simulated = new SimulatedProcess();
    simulated.end(1, 'a', 200);
    simulated.reload(['a', 'b']);
    simulated.end(1, 'a', 200);
    simulated.end(0, 'a', 200);
    for (const ids of [['a'], ['a', 'c'], ['a', 'b']]) {
      expect(simulated.requestsOf('a')).toEqual([{ method: 'GET', status: '2xx', count: 3 }]);
      simulated.reload(ids);
    }
    simulated.reload(['b']);
    expect(simulated.requestsOf('a')).toEqual([]);
    simulated.reload(['a', 'b']);
    expect(simulated.requestsOf('a')).toEqual([]);
    expect(requestsIn(simulated.main.totals())).toBe(3);
  });

  it('of a worker that missed two reloads are in the memory of the last plan', () => {
    const [plan, memory] = [planOf(['a']), new SharedMemory()];
    const late = new RequestMetrics(plan, { index: 1, count: 2, memory });
    const { name, bytes } = requestBuffer(plan, 2);
    const buffers = new Map([[name, new SharedArrayBuffer(bytes)]]);
    const main = new RequestMetrics(plan, { index: 0, count: 2, memory: new SharedMemory(buffers) });
    memory.add(buffers);
    late.activate(plan);
    late.begin();
    late.record(recordOf('a', 200));
    expect(requestsIn(main.totals())).toBe(1);
  });

  it('count a request of a removed route in the totals only', () => {
    const simulated = new SimulatedProcess();
    simulated.begin(0);
    simulated.reload(['b']);
    simulated.end(0, 'a', 200);
    expect([...simulated.main.routes, ...simulated.main.upstreams]).toEqual([]);
    expect([requestsIn(simulated.main.totals()), simulated.main.inFlight]).toEqual([1, 0]);
  });
});
