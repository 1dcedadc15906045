import type { LoginErrorCode, ResponseTokens } from '../tokens/find-tokens.ts';
import type { Overload } from './body-rule.ts';
import type { FairQueueItem } from './fair-queue.ts';
import type { ValidationTask, ValidationThread, ValidationWorkerResponse } from './validation-thread.ts';

/** A job for another thread: texts of a body or of parameters to validate, or a response to search for tokens. */
export interface ValidationJob extends ValidationTask, FairQueueItem {}

/** The result of a job. */
export interface ValidationJobResult {
  /** The violations that each check found. */
  readonly violations: ValidationWorkerResponse['violations'];
  /** The result of the search; `undefined` if there was none, or it did not finish. */
  readonly searchResult?: ResponseTokens | LoginErrorCode | undefined;
  /** The bytes of the job; `undefined` if they are lost. */
  readonly body: Buffer | undefined;
  /** The job did not run: nothing was validated. */
  readonly overload?: Overload;
}

/** A job in the pool: it waits, then runs, and ends once. */
export class PendingJob implements FairQueueItem {
  readonly job: ValidationJob;
  readonly route: string;
  readonly client: string;
  readonly result: Promise<ValidationJobResult>;
  /** Limits the time in the queue, then the time of the run. */
  timer: NodeJS.Timeout | undefined;
  thread: ValidationThread | undefined;
  isAbandoned = false;
  /** The start of the wait, then the start of the run. */
  since = performance.now();
  #resolve: (result: ValidationJobResult) => void = () => undefined;
  #reject: (error: Error) => void = () => undefined;

  constructor(job: ValidationJob) {
    this.job = job;
    this.route = job.route;
    this.client = job.client;
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  end(result: ValidationJobResult | Error): void {
    clearTimeout(this.timer);
    if (result instanceof Error) this.#reject(result);
    else this.#resolve(result);
  }
}
