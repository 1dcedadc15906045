import { FairQueue } from './fair-queue.ts';
import { JudgeThread } from './judge-thread.ts';
import type { Overload } from './plan.ts';
import { type Job, type JobResult, PoolJob } from './pool-job.ts';

export interface PoolLimits {
  /** At least two: no route has all of them, so a slow schema leaves one to the others. */
  readonly threads: number;
  /** Threads that start once every other one has been busy with its job for so long, and end when none of their jobs wait. */
  readonly spares: number;
  readonly spareAfterMs: number;
  /** A job that runs longer is refused, and ends its thread. */
  readonly jobMs: number;
  readonly waitMs: number;
  readonly waiting: number;
  /** A job runs on for so long when its client has left, since to end a thread costs a new one. */
  readonly abandonedMs: number;
}

const LIMITS: PoolLimits = {
  threads: 2,
  spares: 2,
  spareAfterMs: 500,
  jobMs: 10_000,
  waitMs: 5_000,
  waiting: 256,
  abandonedMs: 250,
};
/** The parts of the places that one client and one route may have once half of them are taken. */
const CLIENT_SHARE = 1 / 8;
const ROUTE_SHARE = 1 / 4;

export interface PoolStatus {
  /** They start with the first bodies that need them. */
  readonly threads: number;
  readonly busy: number;
  readonly waiting: number;
  /** Jobs that have had their turn, and how long all of them together waited for it. */
  readonly started: number;
  readonly waited_ms: number;
  /** Jobs whose clients left first. */
  readonly abandoned: number;
  /** Jobs that were ended for running too long. */
  readonly too_long: number;
  readonly refused: Readonly<Record<Overload, number>>;
}

/** Threads that validate, and a fair queue in front of them. */
export class ValidationPool {
  readonly #limits: PoolLimits;
  readonly #queue = new FairQueue<PoolJob>();
  readonly #threads = new Map<JudgeThread, PoolJob | undefined>();
  readonly #refused: Record<Overload, number> = { queue_full: 0, queue_share: 0, queue_wait: 0 };
  #started = 0;
  #waitedMs = 0;
  #abandoned = 0;
  #tooLong = 0;
  #spareTimer: NodeJS.Timeout | undefined;

  constructor(limits: Partial<PoolLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  get status(): PoolStatus {
    return {
      threads: this.#threads.size,
      busy: this.#running.length,
      waiting: this.#queue.size,
      started: this.#started,
      waited_ms: Math.round(this.#waitedMs),
      abandoned: this.#abandoned,
      too_long: this.#tooLong,
      refused: { ...this.#refused },
    };
  }

  /** Validates in a thread. `cancel` drops the job, for a client that has left. */
  validate(job: Job): { readonly result: Promise<JobResult>; readonly cancel: () => void } {
    const pending = new PoolJob(job);
    const overload = this.#overloadFor(job);
    if (overload === undefined) {
      this.#queue.add(pending);
      pending.timer = setTimeout(() => this.#refuse(pending, 'queue_wait'), this.#limits.waitMs);
      this.#advance();
    } else this.#refuse(pending, overload);
    return { result: pending.result, cancel: () => this.#cancel(pending) };
  }

  get #running(): PoolJob[] {
    return [...this.#threads.values()].filter((pending) => pending !== undefined);
  }

  #overloadFor({ client, route }: Job): Overload | undefined {
    const queue = this.#queue;
    const { waiting } = this.#limits;
    if (queue.size < waiting / 2) return undefined;
    if (queue.size >= waiting) return 'queue_full';
    const isShared = queue.countOf(client) < waiting * CLIENT_SHARE && queue.countOn(route) < waiting * ROUTE_SHARE;
    return isShared ? undefined : 'queue_share';
  }

  #refuse(pending: PoolJob, overload: Overload): void {
    this.#queue.remove(pending);
    this.#refused[overload] += 1;
    pending.end({ faults: [], body: pending.job.body, overload });
  }

  #advance(): void {
    const running = this.#running;
    const most = this.#limits.threads - 1;
    const mayRun = (route: string) => running.filter((other) => other.route === route).length < most;
    const thread = this.#queue.hasNext(mayRun) ? this.#freeThread() : undefined;
    const pending = thread && this.#queue.take(mayRun);
    if (thread === undefined || pending === undefined) return;
    this.#run(thread, pending);
    this.#advance();
  }

  #freeThread(): JudgeThread | undefined {
    for (const thread of this.#threads.keys()) if (thread.isFree) return thread;
    if (this.#threads.size >= this.#limits.threads && !this.#mayStartSpare()) return undefined;
    const thread: JudgeThread = new JudgeThread(() => {
      this.#threads.delete(thread);
      this.#advance();
    });
    this.#threads.set(thread, undefined);
    return thread;
  }

  /** Slow schemas of two routes would hold both threads, and the bodies of all other routes with them. */
  #mayStartSpare(): boolean {
    const { threads, spares, spareAfterMs } = this.#limits;
    if (this.#threads.size >= threads + spares) return false;
    const begun = Math.max(...this.#running.map(({ since }) => since));
    const restMs = begun + spareAfterMs - performance.now();
    if (restMs <= 0) return true;
    clearTimeout(this.#spareTimer);
    this.#spareTimer = setTimeout(() => this.#advance(), restMs + 1).unref();
    return false;
  }

  #run(thread: JudgeThread, pending: PoolJob): void {
    const now = performance.now();
    this.#started += 1;
    this.#waitedMs += now - pending.since;
    pending.since = now;
    pending.thread = thread;
    clearTimeout(pending.timer);
    pending.timer = setTimeout(() => thread.end(), this.#limits.jobMs);
    this.#threads.set(thread, pending);
    thread.run(pending.job, (result) => {
      if (this.#threads.has(thread)) this.#threads.set(thread, undefined);
      if (result === undefined && !pending.isAbandoned) this.#tooLong += 1;
      pending.end(result ?? { faults: [[TOO_LONG]], body: undefined });
      this.#advance();
      if (thread.isFree && this.#threads.size > this.#limits.threads) thread.end();
    });
  }

  #cancel(pending: PoolJob): void {
    const { thread } = pending;
    if (this.#queue.remove(pending)) pending.end({ faults: [], body: undefined });
    else if (thread === undefined || this.#threads.get(thread) !== pending) return;
    else {
      const restMs = Math.max(0, this.#limits.abandonedMs - (performance.now() - pending.since));
      pending.isAbandoned = true;
      clearTimeout(pending.timer);
      pending.timer = setTimeout(() => thread.end(), restMs);
    }
    this.#abandoned += 1;
  }
}

const TOO_LONG = { pointer: '', message: 'takes too long to check' };

/** The pool of the process. */
export const validationPool = new ValidationPool();
