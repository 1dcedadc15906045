import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { SharedMemory, sharedNow } from '../../src/engine/shared-memory/worker-context.ts';
import { scaledMs } from '../support/slowness.ts';

/** The cells of `lock-thread.ts`. */
const createCells = () => new Int32Array(new SharedArrayBuffer(20));
const GATE = 4;

function openGate(cells: Int32Array): void {
  Atomics.store(cells, GATE, 1);
  Atomics.notify(cells, GATE);
}

/** Starts a thread. Returns it with the time of its clock, and the time of this thread before and after that. */
async function start(cells: Int32Array, times: number | 'forever', holdMs = 0) {
  const url = new URL('../support/lock-thread.ts', import.meta.url);
  const before = sharedNow();
  const worker = new Worker(url, { workerData: { cells, times, holdMs }, execArgv: [], env: {} });
  const [now] = (await once(worker, 'message')) as [number];
  return { worker, before, now, after: sharedNow() };
}

describe('SharedLock', () => {
  it('is held by one of four threads at a time', async () => {
    const cells = createCells();
    const threads = await Promise.all([1, 2, 3, 4].map(() => start(cells, 20_000)));
    const exits = threads.map(({ worker }) => once(worker, 'exit'));
    openGate(cells);
    await Promise.all(exits);
    expect([...cells.subarray(1, GATE)]).toEqual([0, 80_000, 0]);
  });

  it('passes from a terminated thread to one of those that wait, and from that to the others', async () => {
    const cells = createCells();
    const { worker } = await start(cells, 'forever');
    await once(worker, 'message');
    const waiting = await Promise.all([1, 2, 3].map(() => start(cells, 3, 20)));
    const exits = waiting.map((thread) => once(thread.worker, 'exit'));
    await worker.terminate();
    const terminated = performance.now();
    // All threads begin to wait together, so their times to wait end together.
    openGate(cells);
    await Promise.all(exits);
    expect(performance.now() - terminated).toBeLessThan(scaledMs(4_000));
    expect([...cells.subarray(1, GATE)]).toEqual([0, 9, 0]);
  });
});

it('sharedNow is the same in all threads', async () => {
  for (const { worker, before, now, after } of await Promise.all([1, 2, 3].map(() => start(createCells(), 0)))) {
    expect(now).toBeGreaterThan(before);
    expect(now).toBeLessThan(after);
    await worker.terminate();
  }
});

describe('SharedMemory', () => {
  it('returns one buffer of zeros for a name until it is deleted', () => {
    const memory = new SharedMemory();
    const buffer = memory.buffer('a', 16);
    expect([buffer.byteLength, ...new Uint8Array(buffer)]).toEqual([16, ...new Array(16).fill(0)]);
    expect(memory.buffer('a', 16)).toBe(buffer);
    expect(new SharedMemory(memory.buffers).buffer('a', 16)).toBe(buffer);
    memory.delete('a');
    expect(memory.buffer('a', 16)).not.toBe(buffer);
  });

  it('retains the buffers of a plan', () => {
    const memory = new SharedMemory(new Map(['a', 'b', 'c'].map((name) => [name, new SharedArrayBuffer(8)])));
    memory.retain(new Set(['b', 'd']));
    expect([...memory.buffers.keys()]).toEqual(['b']);
  });
});
