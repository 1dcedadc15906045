import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { BufferParts, bytesOf } from '../../src/engine/shared-memory/buffer-parts.ts';
import { type LimitResult, limitMemory } from '../support/connection-limit-thread.ts';
import { cases } from '../support/runs.ts';

async function runThreads(count: number, limit: number, rounds: number) {
  const buffer = new SharedArrayBuffer(bytesOf((parts) => limitMemory(parts, count)));
  const results = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const url = new URL('../support/connection-limit-thread.ts', import.meta.url);
      const workerData = { kind: 'connection-limit', run: { index, count, limit, rounds, buffer } };
      const thread = new Worker(url, { workerData });
      return new Promise<LimitResult>((resolve, reject) => thread.on('message', resolve).on('error', reject));
    }),
  );
  const { open, waiting, connections } = limitMemory(new BufferParts(buffer), count);
  const remaining = [...waiting.counts, ...connections.counts].filter((cell) => cell !== 0);
  return { results, mostOpen: open[1] as number, remaining };
}

describe('a connection limit of several threads', () => {
  it.each([
    [2, 1],
    [3, 2],
    [4, 1],
    [4, 3],
  ])(
    'with %i threads and %i connections is never exceeded, and each request gets its connection',
    async (count, limit) => {
      const rounds = cases(20_000);
      const { results, mostOpen, remaining } = await runThreads(count, limit, rounds);
      expect(results).toEqual(results.map(() => ({ served: rounds, lost: 0 })));
      expect(mostOpen).toBeLessThanOrEqual(limit);
      expect(remaining).toEqual([]);
    },
  );
});
