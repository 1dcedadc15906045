import type { Violation } from '../schema/value-validator.ts';
import { type CancellablePromise, type ValidationResult, validationPool } from './body-rule.ts';
import type { DeferredValue, DeferredValues } from './parameter-value.ts';
import type { ValidationJob, ValidationJobResult } from './validation-thread.ts';

/**
 * Validates parameter values in another thread.
 *
 * @param validate called immediately: collects the values, and returns the violations that need no schema
 */
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
