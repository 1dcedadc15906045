import type { Violation } from '../schema/schema-violation.ts';
import type { MediaTypes } from './media-type.ts';

/** The body that a route accepts. */
export interface BodyRule {
  /** A longer body is refused as soon as its length is known. */
  readonly limitBytes: number;
  /** The accepted media types; `undefined` accepts any. */
  readonly types: MediaTypes | undefined;
  /**
   * Parses and validates a complete JSON body, in another thread if that takes long; `undefined` if the route has no schema.
   * It takes ownership of the buffer: nothing else may use its memory.
   */
  readonly validate: ((body: Buffer, client?: string) => ValidationResult | CancellablePromise) | undefined;
  /** Creates the validator of a streamed body with this Content-Type; `undefined`: the body is not validated. */
  readonly streamValidatorFor: ((contentType: string) => StreamValidator | undefined) | undefined;
}

/** Validates one body chunk by chunk, with little memory. */
export interface StreamValidator {
  /** Validates the next chunk, of any length. After a violation, neither it nor later chunks may be forwarded. */
  write(chunk: Buffer): Violation | undefined;
  /** Validates the end of the body. */
  end(): Violation | undefined;
}

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
