import type { Waiting } from './fair-queue.ts';
import type { Answer, JudgeThread, Task } from './judge-thread.ts';
import type { Overload, TokenSearch } from './plan.ts';

/** Texts to validate in another thread, of a body or of parameters; or a response to search for tokens. */
export interface Job extends Task, Waiting {}

/** The result of a job. */
export interface JobResult {
  /** The violations that each check found. */
  readonly faults: Answer['faults'];
  /** Of the search; `undefined` if there was none, or it did not end. */
  readonly found?: TokenSearch['found'];
  /** The memory that the job brought; `undefined` if it is lost. */
  readonly body: Buffer | undefined;
  /** The job had no turn: nothing was validated. */
  readonly overload?: Overload;
}

/** A job on its way through the pool: it waits, then it runs, and it ends once. */
export class PoolJob implements Waiting {
  readonly job: Job;
  readonly route: string;
  readonly client: string;
  readonly result: Promise<JobResult>;
  /** Of the time that it may wait, then of the time that it may run. */
  timer: NodeJS.Timeout | undefined;
  thread: JudgeThread | undefined;
  isAbandoned = false;
  /** When it began to wait, then when it began to run. */
  since = performance.now();
  #resolve: (result: JobResult) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(job: Job) {
    this.job = job;
    this.route = job.route;
    this.client = job.client;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  end(result: JobResult | Error): void {
    clearTimeout(this.timer);
    if (result instanceof Error) this.#reject(result);
    else this.#resolve(result);
  }
}
