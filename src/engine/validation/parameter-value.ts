import type { Path } from '../problem/finding.ts';
import type { ValueValidator, Violation } from '../schema/value-validator.ts';
import { type CancellablePromise, type ValidationResult, validationPool } from './body-rule.ts';
import { inexactScalar } from './inexact-numbers.ts';
import type { ValidationJob, ValidationJobResult } from './validation-thread.ts';

/** A value to validate in another thread. */
interface DeferredValue {
  readonly pointer: string;
  readonly path: Path;
  /** The value as JSON: as its schema's type, then as a string if the schema allows that too. */
  readonly texts: readonly string[];
}

/** While `values` is set, values are collected in it and not validated. */
export interface DeferredValues {
  values: DeferredValue[] | undefined;
}

/** Validates one decoded value of a parameter; its violations have the `pointer`. */
export type ParameterValidator = (text: string, pointer: string) => readonly Violation[];

/** Validates the parameters of a request: its encoded path, its query with the question mark, and its headers as received. */
export type ParametersCheck = (path: string, query: string, headers: readonly string[]) => readonly Violation[];

/** RFC 8259 section 6: every server reads these as the same number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

interface ParameterSchema {
  readonly validate: ValueValidator;
  readonly path: Path;
  readonly types: ReadonlySet<string>;
}

/**
 * Creates the validator of a parameter. A parameter is a string, and is parsed as a number or a boolean only if its schema
 * has that type, and only for validation: the gateway forwards the original text. `0x10`, `+1` and `007` are not numbers
 * here, and `1e2` is not an integer, because servers read them differently.
 */
export function createParameterValidator(
  { validate, path, types }: ParameterSchema,
  deferred: DeferredValues,
): ParameterValidator {
  return (text, pointer) => {
    const value = parseValue(text, types);
    const mayBeText = value !== text && types.has('string');
    if (deferred.values !== undefined) {
      const texts = [value === text ? JSON.stringify(text) : text, ...(mayBeText ? [JSON.stringify(text)] : [])];
      deferred.values.push({ pointer, path, texts });
      return [];
    }
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

/** Validates parameter values in another thread. `validate` collects the values at once, and finds violations that need no schema. */
export function validateDeferred(
  job: Pick<ValidationJob, 'route' | 'client' | 'root'>,
  deferred: DeferredValues,
  validate: () => readonly Violation[],
): CancellablePromise {
  const values: DeferredValue[] = [];
  deferred.values = values;
  const immediate = validate();
  deferred.values = undefined;
  const texts = values.flatMap(({ path, texts }) => texts.map((text) => ({ path, bytes: Buffer.from(text) })));
  let end = 0;
  const checks = texts.map(({ path, bytes }) => {
    end += bytes.length;
    return { path, end };
  });
  const body = Buffer.concat(texts.map(({ bytes }) => bytes));
  const { result, cancel } = validationPool.validate({ ...job, checks, body });
  return Object.assign(
    result.then((result) => mergeResults(values, immediate, result)),
    { cancel },
  );
}

function mergeResults(
  values: readonly DeferredValue[],
  immediate: readonly Violation[],
  { violations, ...rest }: ValidationJobResult,
): ValidationResult {
  let index = 0;
  const all = values.flatMap(({ pointer, texts }) => {
    const [first = [], asText] = violations.slice(index, index + texts.length);
    index += texts.length;
    return asText?.length === 0 ? [] : first.map((violation) => ({ ...violation, pointer }));
  });
  return { ...rest, violations: [...immediate, ...all].slice(0, MAX_VIOLATIONS) };
}

/** Further violations are not reported. */
export const MAX_VIOLATIONS = 20;
