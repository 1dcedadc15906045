import { performance } from 'node:perf_hooks';
import type { Gateway } from '../../engine/gateway/gateway.ts';
import { validationPool } from '../../engine/validation/request-rules.ts';

/** Numbers of one worker that are not in shared memory. */
export type ThreadFigures = ReturnType<typeof readFigures>;

export function readFigures({ clients, resolver }: Pick<Gateway, 'clients' | 'resolver'>) {
  const { active, idle } = performance.eventLoopUtilization();
  const { outcomes, buckets, sumMs, stale, inFlight } = resolver.counts;
  return {
    /** Open connections of clients. */
    connections: clients.workerConnections,
    /** Milliseconds in which the event loop of the thread was active, and idle. */
    eventLoop: { active, idle },
    validation: validationPool.status,
    dns: { outcomes, buckets, sumMs, stale, inFlight },
  };
}

/** Returns the figures of a thread that has ended: its counters, without anything in progress. */
export function countersOf({ validation, dns, ...figures }: ThreadFigures): ThreadFigures {
  return {
    ...figures,
    connections: 0,
    validation: { ...validation, threads: 0, busy: 0, waiting: 0 },
    dns: { ...dns, inFlight: 0 },
  };
}

/** Adds all numbers of two values of the same structure. */
export function addFigures<Value>(one: Value, other: Value): Value {
  if (typeof one === 'number') return ((one as number) + (other as number)) as Value;
  if (Array.isArray(one)) return one.map((value, index) => addFigures(value, (other as unknown[])[index])) as Value;
  const entries = Object.entries(one as object).map(([key, value]) => [
    key,
    addFigures(value, (other as Record<string, unknown>)[key]),
  ]);
  return Object.fromEntries(entries);
}
