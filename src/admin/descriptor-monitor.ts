import { readFileSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import type { Gateway } from '../gateway/gateway.ts';
import { descriptorLimits, requiredDescriptors } from '../gateway/server/descriptor-limits.ts';
import { ThrottledWarning } from '../gateway/telemetry/throttled-warning.ts';
import type { Log } from '../log/log.ts';
import type { Plan } from '../plan/plan.ts';

/** How often the process looks whether it can open a file. */
const CHECK_INTERVAL_MS = 1_000;

/** The file descriptors of the process. Where the system does not say, a number is `null`. */
export interface DescriptorStatus {
  /** The soft limit, `ulimit -n`. */
  readonly limit: number | null;
  readonly open: number | null;
  /** How many the limits of the manifest allow to be needed. */
  readonly wanted: number;
  /** How often the process found that it could open no more. */
  readonly shortages: number;
}

/**
 * Watches the file descriptors of the process. The runtime closes connections without a word when it has no descriptor to
 * accept them with, so somebody has to look.
 */
export class DescriptorMonitor {
  readonly #gateway: Pick<Gateway, 'plan'>;
  readonly #logger: Log['logger'];
  readonly #shortages: ThrottledWarning;
  /** The soft limit, `ulimit -n`; infinite where the system does not say. */
  readonly limit: number;
  #open: number | null = null;
  #checked: Plan | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(gateway: Pick<Gateway, 'plan'>, logger: Log['logger'], limit: number) {
    this.#gateway = gateway;
    this.limit = limit;
    this.#logger = logger;
    this.#shortages = new ThrottledWarning(
      logger,
      'no file descriptor is free: connections are closed as they come; raise "ulimit -n" or lower server.limits.connections',
    );
  }

  get status(): DescriptorStatus {
    const wanted = requiredDescriptors(this.#gateway.plan);
    return {
      limit: Number.isFinite(this.limit) ? this.limit : null,
      open: this.#open,
      wanted,
      shortages: this.#shortages.total,
    };
  }

  /** Looks now, and every second from then on. */
  async start(): Promise<void> {
    await this.#check();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #check(): Promise<void> {
    this.#warnOf(this.#gateway.plan);
    this.#open = await countOpenDescriptors();
    await this.#try();
    this.#timer = setTimeout(() => void this.#check(), CHECK_INTERVAL_MS).unref();
  }

  async #try(): Promise<void> {
    try {
      const file = await open('/dev/null');
      await file.close();
    } catch (error) {
      const { code: reason } = error as NodeJS.ErrnoException;
      if (reason === 'EMFILE' || reason === 'ENFILE') this.#shortages.add({ reason, limit: this.limit });
    }
  }

  /** Each plan has limits of its own. */
  #warnOf(plan: Plan): void {
    if (plan === this.#checked) return;
    this.#checked = plan;
    const { limit } = this;
    const wanted = requiredDescriptors(plan);
    if (wanted <= limit) return;
    this.#logger.warn(
      { limit, wanted, accepted: descriptorLimits(plan, limit).clients },
      'the limits of the manifest allow more connections than there are file descriptors; raise "ulimit -n" or lower server.limits.connections',
    );
  }
}

/** Returns the soft limit, `ulimit -n`; infinite where the system does not say. */
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
    // Since Linux 6.2 the folder's size says how many there are.
    const { size } = await stat('/proc/self/fd');
    return size > 0 ? size : (await readdir('/proc/self/fd')).length - 1;
  } catch {
    return null;
  }
}
