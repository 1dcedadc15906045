import { readFileSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { attempt } from '../engine/attempt.ts';
import type { Gateway } from '../engine/gateway/gateway.ts';
import { type Log, ThrottledWarning } from '../engine/log/log.ts';
import type { Plan } from '../engine/plan/plan.ts';

/** How often the monitor tries to open a file. */
const CHECK_INTERVAL_MS = 1_000;

export type DescriptorMonitor = ReturnType<typeof createDescriptorMonitor>;

/** Monitors file descriptors: without a free one, the runtime closes new connections and reports nothing. */
export function createDescriptorMonitor(
  gateway: Pick<Gateway, 'plan' | 'clients' | 'requiredDescriptors'>,
  logger: Log['logger'],
  limit: number,
) {
  let openCount: number | null = null;
  let checkedPlan: Plan | undefined;
  let timer: NodeJS.Timeout | undefined;
  const shortages = new ThrottledWarning(
    logger,
    'no file descriptor is free, so new connections are closed; raise "ulimit -n" or lower server.limits.connections',
  );
  return {
    limit,
    start,
    close: () => clearTimeout(timer),
    /** The file descriptors of the process; `null` on systems that do not report a number. */
    get status() {
      const known = Number.isFinite(limit) ? limit : null;
      return { limit: known, open: openCount, wanted: gateway.requiredDescriptors, shortages: shortages.total };
    },
  };

  /** Checks now, and then every second. */
  async function start(): Promise<void> {
    checkLimits(gateway.plan);
    openCount = await countOpenDescriptors();
    await tryOpen();
    timer = setTimeout(() => void start(), CHECK_INTERVAL_MS).unref();
  }

  async function tryOpen(): Promise<void> {
    try {
      const file = await open('/dev/null');
      await file.close();
    } catch (error) {
      const { code: reason } = error as NodeJS.ErrnoException;
      if (reason === 'EMFILE' || reason === 'ENFILE') shortages.add({ reason, limit });
    }
  }

  /** Warns once for each plan whose limits exceed the descriptors. */
  function checkLimits(plan: Plan): void {
    if (plan === checkedPlan) return;
    checkedPlan = plan;
    const wanted = gateway.requiredDescriptors;
    if (wanted <= limit) return;
    logger.warn(
      { limit, wanted, accepted: gateway.clients.limit },
      'server.limits.connections exceeds the file descriptors of the process; lower it or raise "ulimit -n"',
    );
  }
}

/** Returns the soft limit, `ulimit -n`; infinite on systems that do not report it. */
export function descriptorLimit(): number {
  const limits = attempt(() => readFileSync('/proc/self/limits', 'utf8')) ?? '';
  const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
}

async function countOpenDescriptors(): Promise<number | null> {
  try {
    // Since Linux 6.2 the size of this folder is the number of descriptors.
    const { size } = await stat('/proc/self/fd');
    return size > 0 ? size : (await readdir('/proc/self/fd')).length - 1;
  } catch {
    return null;
  }
}
