import { describe, expect, it } from 'vitest';
import { countWorkers, processorCount } from '../../src/process/workers/processor-count.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const V2 = { 'proc/self/cgroup': '0::/\n' };
const V1 = { 'proc/self/cgroup': '9:name=systemd:/\n4:cpuacct,cpu:/docker/one\n0::/\n' };
const V1_FOLDER = 'sys/fs/cgroup/cpu/docker/one';

const CASES: readonly [name: string, files: Readonly<Record<string, string>>, count: number][] = [
  ['no control group', {}, 8],
  ['no limit', { ...V2, 'sys/fs/cgroup/cpu.max': 'max 100000\n' }, 8],
  ['a limit of two processors', { ...V2, 'sys/fs/cgroup/cpu.max': '200000 100000\n' }, 2],
  ['a limit of one and a half', { ...V2, 'sys/fs/cgroup/cpu.max': '150000 100000\n' }, 1],
  ['a limit of a half', { ...V2, 'sys/fs/cgroup/cpu.max': '50000 100000\n' }, 1],
  ['a limit above the number of processors', { ...V2, 'sys/fs/cgroup/cpu.max': '1600000 100000\n' }, 8],
  ['another period', { ...V2, 'sys/fs/cgroup/cpu.max': '150000 50000\n' }, 3],
  ['a file that is not a limit', { ...V2, 'sys/fs/cgroup/cpu.max': 'nonsense\n' }, 8],
  [
    'a limit of a group around that of the process',
    {
      'proc/self/cgroup': '0::/pods/one/gateway\n',
      'sys/fs/cgroup/pods/one/gateway/cpu.max': '600000 100000\n',
      'sys/fs/cgroup/pods/one/cpu.max': '300000 100000\n',
      'sys/fs/cgroup/pods/cpu.max': 'max 100000\n',
    },
    3,
  ],
  [
    'a group that the container does not see',
    { 'proc/self/cgroup': '0::/../../outside\n', 'sys/fs/cgroup/cpu.max': '400000 100000\n' },
    4,
  ],
  [
    'version 1',
    { ...V1, [`${V1_FOLDER}/cpu.cfs_quota_us`]: '250000\n', [`${V1_FOLDER}/cpu.cfs_period_us`]: '100000\n' },
    2,
  ],
  [
    'version 1 in a container',
    { ...V1, 'sys/fs/cgroup/cpu/cpu.cfs_quota_us': '500000\n', 'sys/fs/cgroup/cpu/cpu.cfs_period_us': '100000\n' },
    5,
  ],
  [
    'version 1 without a limit',
    { ...V1, [`${V1_FOLDER}/cpu.cfs_quota_us`]: '-1\n', [`${V1_FOLDER}/cpu.cfs_period_us`]: '100000\n' },
    8,
  ],
];

describe('the number of processors', () => {
  it.each(CASES)('with %s', (_name, files, count) => {
    expect(processorCount(8, temporaryFolder('processors', files))).toBe(count);
  });

  it('of this machine is at least 1', () => {
    expect(processorCount()).toBeGreaterThanOrEqual(1);
  });
});

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
