import { readFileSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import type { Gateway } from '../engine/gateway/gateway.ts';
import { descriptorLimits, requiredDescriptors } from '../engine/gateway/server/descriptor-limits.ts';
import { type Log, ThrottledWarning } from '../engine/log/log.ts';
import type { Plan } from '../engine/plan/plan.ts';

/** How often the monitor tries to open a file. */
const CHECK_INTERVAL_MS = 1_000;

/**
 * Monitors the file descriptors of the process. Without a free descriptor the runtime closes new connections and
 * reports nothing, so the monitor tries to open a file every second.
 */
export class DescriptorMonitor {
  readonly #gateway: Pick<Gateway, 'plan' | 'workerCount'>;
  readonly #logger: Log['logger'];
  readonly #shortages: ThrottledWarning;
  /** The soft limit, `ulimit -n`; infinite on systems that do not report it. */
  readonly limit: number;
  #open: number | null = null;
  #checkedPlan: Plan | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(gateway: Pick<Gateway, 'plan' | 'workerCount'>, logger: Log['logger'], limit: number) {
    this.#gateway = gateway;
    this.limit = limit;
    this.#logger = logger;
    this.#shortages = new ThrottledWarning(
      logger,
      'no file descriptor is free, so new connections are closed; raise "ulimit -n" or lower server.limits.connections',
    );
  }

  /** The file descriptors of the process; `null` on systems that do not report a number. */
  get status() {
    return {
      limit: Number.isFinite(this.limit) ? this.limit : null,
      open: this.#open,
      // The most descriptors that the gateway can need with the limits of the manifest.
      wanted: requiredDescriptors(this.#gateway.plan, this.#gateway.workerCount),
      // How often the monitor could not open a file.
      shortages: this.#shortages.total,
    };
  }

  /** Checks now, and then every second. */
  async start(): Promise<void> {
    this.#checkLimits(this.#gateway.plan);
    this.#open = await countOpenDescriptors();
    await this.#tryOpen();
    this.#timer = setTimeout(() => void this.start(), CHECK_INTERVAL_MS).unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async #tryOpen(): Promise<void> {
    try {
      const file = await open('/dev/null');
      await file.close();
    } catch (error) {
      const { code: reason } = error as NodeJS.ErrnoException;
      if (reason === 'EMFILE' || reason === 'ENFILE') this.#shortages.add({ reason, limit: this.limit });
    }
  }

  /** Warns once for each plan whose limits exceed the descriptors. */
  #checkLimits(plan: Plan): void {
    if (plan === this.#checkedPlan) return;
    this.#checkedPlan = plan;
    const { limit } = this;
    const { wanted } = this.status;
    if (wanted <= limit) return;
    this.#logger.warn(
      { limit, wanted, accepted: descriptorLimits(plan, limit, this.#gateway.workerCount).clients },
      'server.limits.connections exceeds the file descriptors of the process; lower it or raise "ulimit -n"',
    );
  }
}

/** Returns the soft limit, `ulimit -n`; infinite on systems that do not report it. */
export function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
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
