import type { Violation } from '../violation.ts';

/** Why work had no turn in another thread: too much waits, too much of the same client, or it waited for too long. */
export type Overload = 'queue_full' | 'queue_share' | 'queue_wait';

/** Work that another thread does. */
export interface CancellablePromise<Result = ValidationResult> extends Promise<Result> {
  /** Drops the work, for a client that has left. */
  readonly cancel: () => void;
}

/** A body that was judged. */
export interface ValidationResult {
  /** None when it fits. */
  readonly violations: readonly Violation[];
  /** The bytes that were judged, to be used from now on; `undefined`: they are lost, and there are faults. */
  readonly body: Buffer | undefined;
  /** Nothing was validated, since too much waits for the threads. */
  readonly overload?: Overload;
}
