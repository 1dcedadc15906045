import { FairQueue } from './fair-queue.ts';
import { type Overload, type ValidationJob, type ValidationJobResult, ValidationThread } from './validation-thread.ts';

const LIMITS = {
  /** At least two: no route may use all of them, so a slow schema leaves one to the other routes. */
  threads: 2,
  /** Additional threads, which end when they are idle. */
  spareThreads: 2,
  /** A spare thread starts when every other thread has been busy with its job for this time. */
  spareAfterMs: 500,
  /** A job that runs longer is refused, and its thread is terminated. */
  jobTimeoutMs: 10_000,
  queueTimeoutMs: 5_000,
  queueLimit: 256,
  /** How long a job may still run after its client has disconnected. Terminating its thread is costly: a new one must start. */
  abandonedGraceMs: 250,
};
export type ValidationPoolLimits = Readonly<typeof LIMITS>;

/** A job in the pool: it waits, then runs, and ends once. */
interface PendingJob extends ValidationJob {
  readonly settled: PromiseWithResolvers<ValidationJobResult>;
  /** Limits the time in the queue, then the time of the run. */
  timer?: NodeJS.Timeout;
  /** The start of the wait, then the start of the run. */
  since: number;
  isAbandoned: boolean;
}

/** The shares of the queue that one client and one route may use once it is half full. */
const CLIENT_SHARE = 1 / 8;
const ROUTE_SHARE = 1 / 4;

/**
 * Threads that validate, and a fair queue in front of them. piscina 5.3 was measured instead: its queue cannot delay
 * the jobs of one route while those of another run, it starts all threads at the first burst, and a job of 40 KB took
 * 1.3 ms, where this pool takes 1.0 ms, because it sends the schemas with each job.
 */
export class ValidationPool {
  readonly #limits: ValidationPoolLimits;
  readonly #queue = new FairQueue<PendingJob>();
  readonly #threads = new Set<ValidationThread<PendingJob>>();
  readonly #refused: Record<Overload, number> = { queue_full: 0, queue_share: 0, queue_wait: 0 };
  #started = 0;
  #waitedMs = 0;
  #abandoned = 0;
  #timedOut = 0;
  #spareTimer: NodeJS.Timeout | undefined;

  constructor(limits: Partial<ValidationPoolLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** `waited_ms`: the time that the started jobs waited. `abandoned`: jobs whose clients disconnected. `too_long`: jobs over the time limit. */
  get status() {
    return {
      threads: this.#threads.size,
      busy: this.#running.length,
      waiting: this.#queue.size,
      started: this.#started,
      waited_ms: Math.round(this.#waitedMs),
      abandoned: this.#abandoned,
      too_long: this.#timedOut,
      refused: { ...this.#refused },
    };
  }

  /** Runs a job in a thread. `cancel` drops the job of a client that has disconnected. */
  validate(job: ValidationJob): Promise<ValidationJobResult> & { readonly cancel: () => void } {
    const settled = Promise.withResolvers<ValidationJobResult>();
    const pending: PendingJob = { ...job, settled, since: performance.now(), isAbandoned: false };
    const overload = this.#overloadFor(job);
    if (overload === undefined) {
      this.#queue.add(pending);
      pending.timer = setTimeout(() => this.#refuse(pending, 'queue_wait'), this.#limits.queueTimeoutMs);
      this.#startNext();
    } else this.#refuse(pending, overload);
    return Object.assign(settled.promise, { cancel: () => this.#cancel(pending) });
  }

  get #running(): PendingJob[] {
    return [...this.#threads].flatMap(({ job }) => job ?? []);
  }

  #overloadFor({ client, route }: ValidationJob): Overload | undefined {
    const queue = this.#queue;
    const { queueLimit } = this.#limits;
    if (queue.size < queueLimit / 2) return undefined;
    if (queue.size >= queueLimit) return 'queue_full';
    const isWithinShares =
      queue.countForClient(client) < queueLimit * CLIENT_SHARE && queue.countForRoute(route) < queueLimit * ROUTE_SHARE;
    return isWithinShares ? undefined : 'queue_share';
  }

  #refuse(pending: PendingJob, overload: Overload): void {
    this.#queue.remove(pending);
    this.#refused[overload] += 1;
    settle(pending, { violations: [], body: pending.body, overload });
  }

  #startNext(): void {
    const running = this.#running;
    const maxPerRoute = this.#limits.threads - 1;
    const mayRun = (route: string) => running.filter((other) => other.route === route).length < maxPerRoute;
    const thread = this.#queue.hasNext(mayRun) ? this.#freeThread() : undefined;
    const pending = thread && this.#queue.take(mayRun);
    if (thread === undefined || pending === undefined) return;
    this.#run(thread, pending);
    this.#startNext();
  }

  #freeThread(): ValidationThread<PendingJob> | undefined {
    for (const thread of this.#threads) if (thread.isFree) return thread;
    if (this.#threads.size >= this.#limits.threads && !this.#mayStartSpare()) return undefined;
    const thread = new ValidationThread<PendingJob>((pending, result) => {
      if (thread.state === 'ended') this.#threads.delete(thread);
      if (pending !== undefined && result === undefined && !pending.isAbandoned) this.#timedOut += 1;
      if (pending !== undefined) settle(pending, result ?? { violations: [TIMED_OUT], body: undefined });
      this.#startNext();
      if (thread.isFree && this.#threads.size > this.#limits.threads) thread.end();
    });
    this.#threads.add(thread);
    return thread;
  }

  /** True if a spare thread may start: slow schemas of two routes would otherwise block the jobs of all other routes. */
  #mayStartSpare(): boolean {
    const { threads, spareThreads, spareAfterMs } = this.#limits;
    if (this.#threads.size >= threads + spareThreads) return false;
    const lastStart = Math.max(...this.#running.map(({ since }) => since));
    const restMs = lastStart + spareAfterMs - performance.now();
    if (restMs <= 0) return true;
    clearTimeout(this.#spareTimer);
    this.#spareTimer = setTimeout(() => this.#startNext(), restMs + 1).unref();
    return false;
  }

  #run(thread: ValidationThread<PendingJob>, pending: PendingJob): void {
    const now = performance.now();
    this.#started += 1;
    this.#waitedMs += now - pending.since;
    pending.since = now;
    clearTimeout(pending.timer);
    pending.timer = setTimeout(() => thread.end(), this.#limits.jobTimeoutMs);
    thread.run(pending);
  }

  #cancel(pending: PendingJob): void {
    const thread = [...this.#threads].find(({ job }) => job === pending);
    if (this.#queue.remove(pending)) settle(pending, { violations: [], body: undefined });
    else if (thread === undefined) return;
    else {
      const restMs = Math.max(0, this.#limits.abandonedGraceMs - (performance.now() - pending.since));
      pending.isAbandoned = true;
      clearTimeout(pending.timer);
      pending.timer = setTimeout(() => thread.end(), restMs);
    }
    this.#abandoned += 1;
  }
}

function settle({ settled, timer }: PendingJob, result: ValidationJobResult | Error): void {
  clearTimeout(timer);
  if (result instanceof Error) settled.reject(result);
  else settled.resolve(result);
}

const TIMED_OUT = { pointer: '', message: 'takes too long to validate' };
