import { parentPort, workerData } from 'node:worker_threads';
import {
  type BreakerRule,
  breakerMemory,
  CircuitBreaker,
} from '../../src/engine/gateway/circuit-breaker/circuit-breaker.ts';
import { BufferParts } from '../../src/engine/shared-memory/buffer-parts.ts';

/** One thread of several that use one breaker at the same time. */
export interface BreakerRun {
  readonly index: number;
  readonly rule: BreakerRule;
  readonly buffer: SharedArrayBuffer;
  /** Failures of the endpoint that the thread records, with successes of no effect between them. */
  readonly failures: number;
  /** Requests that the thread tries to begin at the fixed time `now`. */
  readonly requests: number;
  readonly now: number;
}

export interface BreakerResult {
  readonly trials: number;
  readonly refusals: number;
}

export function runBreaker({ index, rule, buffer, failures, requests, now }: BreakerRun): BreakerResult {
  const memory = breakerMemory(new BufferParts(buffer), rule);
  const breaker = new CircuitBreaker(rule, { now: () => now, memory, worker: index });
  for (let count = 0; count < failures; count += 1) {
    breaker.beginRequest(`client ${index}`, true);
    breaker.recordFailure('endpoint', `client ${index}`, 0);
    breaker.recordResponse();
  }
  let trials = 0;
  let refusals = 0;
  for (let count = 0; count < requests; count += 1) {
    const trial = breaker.beginRequest(`client ${index}`);
    if (trial === undefined) refusals += 1;
    else if (trial > 0) trials += 1;
  }
  return { trials, refusals };
}

if (parentPort !== null && workerData?.kind === 'breaker')
  parentPort.postMessage(runBreaker(workerData.run as BreakerRun));
