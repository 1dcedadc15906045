import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path/posix';
import type { Log } from '../../engine/log/log.ts';
import { MAX_WORKERS } from '../../engine/shared-memory/worker-context.ts';

/**
 * Returns the number of processors that this process may use, at least 1: those that it may run on, or fewer if a control group limits
 * its processor time, as a container with a limit of 1.5 processors does. Node does not read these limits.
 *
 * @param root the folder that holds `proc` and `sys`
 */
export function processorCount(processors = availableParallelism(), root = '/'): number {
  const limits = limitFiles(root).flatMap(readLimit);
  return Math.max(1, Math.floor(Math.min(processors, ...limits)));
}

/** The files of a control group that limit the processor time, without the name of its folder. */
interface LimitFiles {
  readonly folder: string;
  readonly version: 1 | 2;
}

/** Returns the folders of the process's control groups and of all groups around them, whose limits apply too. */
function limitFiles(root: string): LimitFiles[] {
  return readLines(join(root, 'proc/self/cgroup')).flatMap((line): LimitFiles[] => {
    // The number of the hierarchy, its controllers, and the group. Version 2 has number 0 and no controllers.
    const [, number = '', controllers = '', group = ''] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? [];
    const groups = withParents(group);
    if (number === '0' && controllers === '')
      return groups.map((name) => ({ folder: join(root, 'sys/fs/cgroup', name), version: 2 }));
    if (!controllers.split(',').includes('cpu')) return [];
    return groups.map((name) => ({ folder: join(root, 'sys/fs/cgroup/cpu', name), version: 1 }));
  });
}

/** Returns `/a/b`, `/a` and `/`: a container may see only the last one. */
function withParents(group: string): string[] {
  return group === '/' || !group.startsWith('/') ? ['/'] : [group, ...withParents(dirname(group))];
}

/** Returns the processors that a group may use: its time in each period, divided by the period. */
function readLimit({ folder, version }: LimitFiles): number[] {
  const [quota, period] =
    version === 2
      ? (readLines(join(folder, 'cpu.max'))[0]?.split(' ') ?? [])
      : ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((name) => readLines(join(folder, name))[0]);
  const limit = Number(quota) / Number(period);
  // Without a limit the quota is `max` in version 2 and -1 in version 1.
  return limit > 0 ? [limit] : [];
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'latin1').trim().split('\n');
  } catch {
    // Another system, or a group that this process cannot see.
    return [];
  }
}

/** Returns the number of workers that a setting means. Warns and returns one where threads cannot share a port. */
export async function countWorkers(
  setting: number | 'auto',
  logger: Pick<Log['logger'], 'warn'>,
  canShare: () => Promise<boolean> = canSharePorts,
): Promise<number> {
  const count = setting === 'auto' ? Math.min(processorCount(), MAX_WORKERS) : setting;
  if (count === 1 || (await canShare())) return count;
  logger.warn({ workers: count }, 'this system does not let threads share a port, so one worker serves all requests');
  return 1;
}

/** Returns true if several threads can listen on one port, as on Linux 3.9 and later. */
async function canSharePorts(): Promise<boolean> {
  const server = createServer();
  try {
    server.listen({ host: '127.0.0.1', port: 0, reusePort: true });
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
