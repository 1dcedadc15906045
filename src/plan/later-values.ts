import type { Later, LaterValue } from './parameter-value.ts';
import type { Fault, Judged, Validating } from './plan.ts';
import type { Job, JobResult } from './pool-job.ts';
import { validationPool } from './validation-pool.ts';

/**
 * Validates values of parameters in another thread.
 *
 * @param validate called at once: it collects the values, and returns the violations that need no schema
 */
export function validateLater(
  job: Pick<Job, 'route' | 'client' | 'root'>,
  later: Later,
  validate: () => readonly Fault[],
): Validating {
  const values: LaterValue[] = [];
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
    result.then((result) => judgedOf(values, faults, result)),
    { cancel },
  );
}

function judgedOf(values: readonly LaterValue[], before: readonly Fault[], { faults, ...rest }: JobResult): Judged {
  let at = 0;
  const all = values.flatMap(({ pointer, texts }) => {
    const [first = [], asText] = faults.slice(at, at + texts.length);
    at += texts.length;
    return asText?.length === 0 ? [] : first.map((fault) => ({ ...fault, pointer }));
  });
  return { ...rest, faults: [...before, ...all].slice(0, MAX_FAULTS) };
}

/** Further violations are not reported. */
export const MAX_FAULTS = 20;
