// A thread of `CountingThreads`.

import { parentPort, workerData } from 'node:worker_threads';
import { LocalCounters } from '../../src/engine/rate-limits/local-counters.ts';
import type { RateLimit } from '../../src/engine/rate-limits/rate-limit.ts';
import { SharedMemory } from '../../src/engine/shared-memory/worker-context.ts';
import { ALLOWED, type CountingStep, type CountingThreadData, GATE, THREADS, TICKET } from './counting-steps.ts';

const data = workerData as CountingThreadData;
const { cells, values, index } = data;
const limit = data.limit as RateLimit;
let ticket = 0;
let seed = data.seed;
const counters = new LocalCounters(readClock, { index, count: THREADS, memory: new SharedMemory(data.buffers) });
counters.activate([limit]);
parentPort?.postMessage('ready');
Atomics.wait(cells, GATE, 0);
if (data.steps === undefined) countForever();
else parentPort?.postMessage(takeSteps(data.steps));

function readClock(): number {
  ticket = Atomics.add(cells, TICKET, 1);
  return ticket * data.msPerTicket;
}

/** Returns a random number below `max`, by a linear congruential generator. */
function random(max: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * max);
}

function takeSteps(steps: number): CountingStep[] {
  const log: CountingStep[] = [];
  const pending: { readonly request: string; readonly value: string; readonly counted: never }[] = [];
  for (let step = 0; step < steps; step += 1) {
    const settles = pending.length > 0 && random(100) < 45;
    if (settles && limit.failures !== undefined) {
      const [{ request, value, counted }] = pending.splice(random(pending.length), 1) as [(typeof pending)[0]];
      const action = random(3) > 0 ? 'release' : 'keep';
      const before = ticket;
      counters[action](limit, value, counted);
      // Nothing reads the clock if another value has taken the slot of a counter whose time had passed.
      if (ticket === before) readClock();
      log.push({ ticket, action, value, request, waitMs: 0, remaining: 0, resetMs: 0 });
      continue;
    }
    const value = values[random(values.length)] as string;
    const counted = counters.count(limit, value);
    const { waitMs, remaining, resetMs } = counted;
    const request = `${index}/${step}`;
    log.push({ ticket, action: 'count', value, request, waitMs, remaining, resetMs });
    if (waitMs === 0) pending.push({ request, value, counted: counted as never });
  }
  return log;
}

function countForever(): never {
  for (let step = 0; ; step += 1) {
    const at = random(values.length);
    const counted = counters.count(limit, values[at] as string);
    if (counted.waitMs === 0) Atomics.add(cells, ALLOWED + at, 1);
    if (data.inventsValues === true) counters.count(limit, `invented-${index}-${step}`);
  }
}
