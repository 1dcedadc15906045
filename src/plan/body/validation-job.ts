import type { TokenSearchResult } from '../tokens/token-search.ts';
import type { FairQueueItem } from './fair-queue.ts';
import type { Overload } from './validation-result.ts';
import type { ValidationTask, ValidationThread, ValidationWorkerResponse } from './validation-thread.ts';

/** Texts to validate in another thread, of a body or of parameters; or a response to search for tokens. */
export interface ValidationJob extends ValidationTask, FairQueueItem {}

/** The result of a job. */
export interface ValidationJobResult {
  /** The violations that each check found. */
  readonly violations: ValidationWorkerResponse['violations'];
  /** Of the search; `undefined` if there was none, or it did not end. */
  readonly searchResult?: TokenSearchResult['result'];
  /** The memory that the job brought; `undefined` if it is lost. */
  readonly body: Buffer | undefined;
  /** The job had no turn: nothing was validated. */
  readonly overload?: Overload;
}

/** A job on its way through the pool: it waits, then it runs, and it ends once. */
export class PendingJob implements FairQueueItem {
  readonly job: ValidationJob;
  readonly route: string;
  readonly client: string;
  readonly result: Promise<ValidationJobResult>;
  /** Of the time that it may wait, then of the time that it may run. */
  timer: NodeJS.Timeout | undefined;
  thread: ValidationThread | undefined;
  isAbandoned = false;
  /** When it began to wait, then when it began to run. */
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
