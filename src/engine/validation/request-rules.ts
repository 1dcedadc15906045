import { truncatePointer } from '../json-pointer.ts';
import type { Path } from '../problem/finding.ts';
import { withinBudget } from '../schema/cost-budget.ts';
import type { SchemaRoot } from '../schema/schema-walk.ts';
import type { ValueValidator, Violation } from '../schema/value-validator.ts';
import { hasInexactNumber, inexactScalar, parseInexactNumbers } from './inexact-numbers.ts';
import type { MediaTypes } from './media-type.ts';
import { parseStrictJson } from './strict-json.ts';
import { ValidationPool } from './validation-pool.ts';
import type { SentParameters, ValidationJobResult } from './validation-thread.ts';

export interface BodyRule {
  /** A longer body is refused as soon as its length is known. */
  readonly limitBytes: number;
  /** The accepted media types; `undefined` accepts any. */
  readonly types: MediaTypes | undefined;
  /** Validates a complete JSON body, in another thread if that takes long, and takes over its memory. `undefined` without a schema. */
  readonly validate: ((body: Buffer, client?: string) => ValidationResult | CancellablePromise) | undefined;
  /** Creates the validator of a streamed body with this Content-Type; `undefined`: the body is not validated. */
  readonly streamValidatorFor: ((contentType: string) => StreamValidator | undefined) | undefined;
}

/** Validates one body chunk by chunk, with little memory. */
export interface StreamValidator {
  /** Validates the next chunk, of any length. After a violation, neither it nor later chunks may be forwarded. */
  write(chunk: Buffer): Violation | undefined;
  end(): Violation | undefined;
}

/** The result of work in another thread. */
export interface CancellablePromise<Result = ValidationResult> extends Promise<Result> {
  /** Drops the work of a client that has disconnected. */
  readonly cancel: () => void;
}

/** The result: no violations if the body is valid, and the validated bytes, to be used from now on. */
export type ValidationResult = Omit<ValidationJobResult, 'searchResult'>;

/** Returns the key of the route that a path of the manifest belongs to. Routes share the threads fairly by this key. */
export function routeKeyOf(path: Path): string {
  return path.slice(0, 2).join('/');
}

/** The threads of the process that validate long or costly values. */
export const validationPool = new ValidationPool();

/** Parsing a longer body blocks the event loop for more than one or two milliseconds. */
const MAX_SYNC_BYTES = 32_768;

/** Creates the function that parses and validates bodies, long or costly ones in another thread. */
export function createBodyValidator(
  validateValue: ValueValidator,
  root: SchemaRoot,
  path: Path,
): NonNullable<BodyRule['validate']> {
  const route = routeKeyOf(path);
  return (body, client = '') => {
    const violations = body.length > MAX_SYNC_BYTES ? undefined : withinBudget(() => validateJson(validateValue, body));
    if (violations !== undefined) return { violations, body };
    return validationPool.validate({ route, client, root, work: { kind: 'body', path }, body });
  };
}

/** Parses a body as strict JSON and validates it. */
export function validateJson(validateValue: ValueValidator, bytes: Buffer): readonly Violation[] {
  const parsed = parseStrictJson(bytes);
  if ('violation' in parsed) return [{ ...parsed.violation, pointer: truncatePointer(parsed.violation.pointer) }];
  const { value, longNumbers } = parsed;
  if (longNumbers === undefined || !hasInexactNumber(bytes, longNumbers)) return validateValue(value, bytes.length);
  const { value: holder, inexact } = parseInexactNumbers(bytes.toString());
  return validateValue(holder, bytes.length, inexact);
}

/** Validates one decoded value of a parameter; its violations have the `pointer`. */
export type ParameterValidator = (text: string, pointer: string) => readonly Violation[];

/** Validates the parameters of a request. */
export type ParametersCheck = (...parameters: SentParameters) => readonly Violation[];

/** RFC 8259 section 6: every server reads these as the same number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

interface ParameterSchema {
  readonly validate: ValueValidator;
  readonly types: ReadonlySet<string>;
}

/**
 * Creates the validator of a parameter. A parameter is a string, and is parsed as a number or a boolean only if its schema
 * has that type, and only for validation: the gateway forwards the original text. `0x10`, `+1` and `007` are not numbers
 * here, and `1e2` is not an integer, because servers read them differently.
 */
export function createParameterValidator({ validate, types }: ParameterSchema): ParameterValidator {
  return (text, pointer) => {
    const value = parseValue(text, types);
    const mayBeText = value !== text && types.has('string');
    const violations = validate(value, text.length, typeof value === 'number' ? inexactScalar(text) : undefined);
    if (violations.length === 0 || (mayBeText && validate(text, text.length).length === 0)) return [];
    return violations.map((violation) => ({ ...violation, pointer }));
  };
}

function parseValue(text: string, types: ReadonlySet<string>): string | number | boolean {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const grammar = types.has('number') ? NUMBER : types.has('integer') ? INTEGER : undefined;
  return grammar?.test(text) && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Further violations are not reported. */
export const MAX_VIOLATIONS = 20;
