// A thread that takes a lock as often as its data says, or once and for ever.

import { parentPort, workerData } from 'node:worker_threads';
import { SharedLock } from '../../src/engine/shared-memory/shared-lock.ts';
import { sharedNow } from '../../src/engine/shared-memory/worker-context.ts';

interface LockThreadData {
  readonly cells: Int32Array;
  readonly times: number | 'forever';
  /** Milliseconds for which the thread holds the lock. */
  readonly holdMs: number;
}

const { cells, times, holdMs } = workerData as LockThreadData;
/** The lock, the threads that hold it, a sum without atomic operations, the violations of the lock, and a gate. */
const [LOCK, HOLDERS, SUM, VIOLATIONS, GATE] = [0, 1, 2, 3, 4] as const;
const lock = new SharedLock(cells, LOCK);

parentPort?.postMessage(sharedNow());
if (times === 'forever') {
  lock.acquire();
  parentPort?.postMessage('held');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
} else {
  Atomics.wait(cells, GATE, 0);
  for (let time = 0; time < times; time += 1)
    lock.run(() => {
      if (Atomics.add(cells, HOLDERS, 1) !== 0) Atomics.add(cells, VIOLATIONS, 1);
      const start = performance.now();
      while (performance.now() - start < holdMs);
      (cells[SUM] as number) += 1;
      Atomics.sub(cells, HOLDERS, 1);
    });
  parentPort?.postMessage('done');
}
