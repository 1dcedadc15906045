import type { Path } from '../problem/finding.ts';
import { EFFORT_SPENT, limitEffort, SERVING_EFFORT } from './effort.ts';
import { findInexact } from './inexact-numbers.ts';
import type { Judge } from './judges.ts';
import type { BodyRule, Fault } from './plan.ts';
import { shortPointer } from './pointer.ts';
import type { SchemaRoot } from './schema-files.ts';
import { parseStrictJson } from './strict-json.ts';
import { validationPool } from './validation-pool.ts';

/** Reading a longer body takes more than one or two milliseconds. */
const MAX_LOOP_BYTES = 32_768;

/** Reads and validates bodies by the schema at a path: long ones, and those that cost much, in another thread. */
export function createBodyJudge(judge: Judge, root: SchemaRoot, path: Path): NonNullable<BodyRule['judge']> {
  const route = routeOf(path);
  return (body, client = '') => {
    const faults = body.length > MAX_LOOP_BYTES ? undefined : withinEffort(() => judgeBytes(judge, body));
    if (faults !== undefined) return { faults, body };
    const checks = [{ path, end: body.length }];
    const { result, cancel } = validationPool.validate({ route, client, root, checks, body });
    const judged = result.then(({ faults: [first = []], ...rest }) => ({ ...rest, faults: first }));
    return Object.assign(judged, { cancel });
  };
}

/** The route that a path of the manifest belongs to. */
export function routeOf(path: Path): string {
  return path.slice(0, 2).join('/');
}

/** Returns `undefined` if the work takes too long for the serving thread. */
export function withinEffort<T>(work: () => T): T | undefined {
  limitEffort(SERVING_EFFORT);
  try {
    return work();
  } catch (error) {
    if (error === EFFORT_SPENT) return undefined;
    throw error;
  } finally {
    limitEffort(Number.POSITIVE_INFINITY);
  }
}

/** What is wrong with a body, as JSON and by a schema. */
export function judgeBytes(judge: Judge, bytes: Buffer): readonly Fault[] {
  const parsed = parseStrictJson(bytes);
  if ('fault' in parsed) return [{ ...parsed.fault, pointer: shortPointer(parsed.fault.pointer) }];
  const { value, longNumbers } = parsed;
  return judge(value, bytes.length, longNumbers && findInexact(bytes, longNumbers, value));
}
