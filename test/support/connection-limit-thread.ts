import { parentPort, workerData } from 'node:worker_threads';
import {
  ConnectionLimit,
  connectionLimitMemory,
  WaitingRequests,
  waitingMemory,
} from '../../src/engine/http1/connection-limit.ts';
import { BufferParts } from '../../src/engine/shared-memory/buffer-parts.ts';
import { scaledMs } from './slowness.ts';

/** The memory of `runConnectionLimit`: that of the limit, and the cells with which the test observes it. */
export function limitMemory(parts: BufferParts, workers: number) {
  return {
    waiting: waitingMemory(parts, workers),
    connections: connectionLimitMemory(parts, workers),
    /** The connections that are really open, and the most at one time. */
    open: parts.int32(2),
    /** Changes with each message to the worker. */
    bells: parts.int32(workers),
  };
}

export interface LimitRun {
  readonly index: number;
  readonly count: number;
  readonly limit: number;
  readonly rounds: number;
  readonly buffer: SharedArrayBuffer;
}

export interface LimitResult {
  readonly served: number;
  /** Requests that got no connection although others were closed. */
  readonly lost: number;
}

/** A wait without a message that is longer than any delay of the machine shows a lost message. */
const LOST_MS = scaledMs(10_000);

/** Serves one request after another as a connection pool does, with at most one connection. */
export function runConnectionLimit({ index, count, limit, rounds, buffer }: LimitRun): LimitResult {
  const memory = limitMemory(new BufferParts(buffer), count);
  const waiting = new WaitingRequests(memory.waiting, { index, count });
  const connections = new ConnectionLimit(limit, waiting, memory.connections, { index, count });
  const { open, bells } = memory;
  let isIdle = false;
  let served = 0;
  const notify = () => {
    for (let worker = 0; worker < count; worker += 1) {
      if (worker === index) continue;
      Atomics.add(bells, worker, 1);
      Atomics.notify(bells, worker);
    }
  };
  const countOpened = () => {
    const now = Atomics.add(open, 0, 1) + 1;
    for (let most = Atomics.load(open, 1); now > most; most = Atomics.load(open, 1))
      Atomics.compareExchange(open, 1, most, now);
  };
  const close = () => {
    isIdle = false;
    connections.ownIdle = 0;
    Atomics.sub(open, 0, 1);
    if (connections.close()) notify();
  };
  const waitForRoom = (): boolean => {
    waiting.tryAdd(Number.POSITIVE_INFINITY);
    for (;;) {
      const bell = Atomics.load(bells, index);
      if (connections.tryOpen()) break;
      if (connections.hasIdleElsewhere) notify();
      if (Atomics.wait(bells, index, bell, LOST_MS) === 'timed-out') return false;
    }
    waiting.remove();
    if (connections.hasRoomElsewhere) notify();
    return true;
  };
  let heard = 0;
  for (let round = 0; round < rounds; round += 1) {
    if (!isIdle && !connections.tryOpen() && !waitForRoom()) return { served, lost: 1 };
    if (!isIdle) countOpened();
    isIdle = false;
    connections.ownIdle = 0;
    for (let step = (round * 7919 + index) % 997; step > 0; step -= 1) Atomics.load(open, 0);
    served += 1;
    isIdle = true;
    if (connections.shouldYield(1)) close();
    const bell = Atomics.load(bells, index);
    if (bell !== heard && isIdle && connections.shouldYield(1)) close();
    heard = bell;
    // Without it, a worker that never waits keeps its connection.
    if (round % 50 === 49 && isIdle) close();
  }
  if (isIdle) close();
  return { served, lost: 0 };
}

if (parentPort !== null && workerData?.kind === 'connection-limit')
  parentPort.postMessage(runConnectionLimit(workerData.run as LimitRun));
