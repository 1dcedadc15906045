import { describe, expect, it } from 'vitest';
import { countWorkers } from '../../src/process/workers/shared-port.ts';

describe('the number of workers', () => {
  const warnings: unknown[] = [];
  const logger = { warn: (...words: unknown[]) => void warnings.push(words) };

  it('is that of the manifest if threads can share a port', async () => {
    expect(await countWorkers(3, logger)).toBe(3);
    expect(await countWorkers(1, logger, () => Promise.reject(new Error('not needed')))).toBe(1);
    expect(warnings).toEqual([]);
  });

  it('is at least 1 and at most 64 with "auto"', async () => {
    const count = await countWorkers('auto', logger, async () => true);
    expect(count).toBeGreaterThanOrEqual(1);
    expect(count).toBeLessThanOrEqual(64);
  });

  it('is 1, with a warning, if threads cannot share a port', async () => {
    expect(await countWorkers(4, logger, async () => false)).toBe(1);
    expect(warnings).toEqual([
      [{ workers: 4 }, 'this system does not let threads share a port, so one worker serves all requests'],
    ]);
  });
});
