import type { Violation } from '../plan/violation.ts';
import type { MediaTypes } from './media-type.ts';
import type { CancellablePromise, ValidationResult } from './validation-result.ts';

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
