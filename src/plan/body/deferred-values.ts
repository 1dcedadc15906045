import type { Violation } from '../violation.ts';
import type { DeferredValue, DeferredValues } from './parameter-value.ts';
import type { ValidationJob, ValidationJobResult } from './validation-job.ts';
import { validationPool } from './validation-pool.ts';
import type { CancellablePromise, ValidationResult } from './validation-result.ts';

/**
 * Validates values of parameters in another thread.
 *
 * @param validate called at once: it collects the values, and returns the violations that need no schema
 */
export function validateDeferred(
  job: Pick<ValidationJob, 'route' | 'client' | 'root'>,
  later: DeferredValues,
  validate: () => readonly Violation[],
): CancellablePromise {
  const values: DeferredValue[] = [];
  later.values = values;
  const faults = validate();
  later.values = undefined;
  const texts = values.flatMap(({ path, texts }) => texts.map((text) => ({ path, bytes: Buffer.from(text) })));
  let end = 0;
  const checks = texts.map(({ path, bytes }) => {
    end += bytes.length;
    return { path, end };
  });
  const body = Buffer.concat(texts.map(({ bytes }) => bytes));
  const { result, cancel } = validationPool.validate({ ...job, checks, body });
  return Object.assign(
    result.then((result) => mergeResults(values, faults, result)),
    { cancel },
  );
}

function mergeResults(
  values: readonly DeferredValue[],
  before: readonly Violation[],
  { violations, ...rest }: ValidationJobResult,
): ValidationResult {
  let at = 0;
  const all = values.flatMap(({ pointer, texts }) => {
    const [first = [], asText] = violations.slice(at, at + texts.length);
    at += texts.length;
    return asText?.length === 0 ? [] : first.map((fault) => ({ ...fault, pointer }));
  });
  return { ...rest, violations: [...before, ...all].slice(0, MAX_VIOLATIONS) };
}

/** Further violations are not reported. */
export const MAX_VIOLATIONS = 20;
