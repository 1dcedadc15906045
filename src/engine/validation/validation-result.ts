import type { Violation } from '../plan/violation.ts';

/** The reason why a job did not run: the queue is full, its client's or route's share of it is, or the job waited too long. */
export type Overload = 'queue_full' | 'queue_share' | 'queue_wait';

/** The result of work in another thread. */
export interface CancellablePromise<Result = ValidationResult> extends Promise<Result> {
  /** Drops the work of a client that has disconnected. */
  readonly cancel: () => void;
}

/** The result of the validation of a body or of parameters. */
export interface ValidationResult {
  /** Empty if the body is valid. */
  readonly violations: readonly Violation[];
  /** The validated bytes, to be used from now on; `undefined`: they are lost, and there are violations. */
  readonly body: Buffer | undefined;
  /** Set if nothing was validated because the threads are overloaded. */
  readonly overload?: Overload;
}
