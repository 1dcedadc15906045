import { truncatePointer } from '../../json-pointer.ts';
import type { Path } from '../../problem/finding.ts';
import { routeKeyOf } from '../route-key.ts';
import { withinBudget } from '../schema/cost-budget.ts';
import type { SchemaRoot } from '../schema/schema-bundle.ts';
import type { ValueValidator } from '../schema/value-validator.ts';
import type { Violation } from '../violation.ts';
import type { BodyRule } from './body.ts';
import { findInexactNumbers } from './inexact-numbers.ts';
import { parseStrictJson } from './strict-json.ts';
import { validationPool } from './validation-pool.ts';

/** Reading a longer body takes more than one or two milliseconds. */
const MAX_LOOP_BYTES = 32_768;

/** Reads and validates bodies by the schema at a path: long ones, and those that cost much, in another thread. */
export function createBodyValidator(
  judge: ValueValidator,
  root: SchemaRoot,
  path: Path,
): NonNullable<BodyRule['validate']> {
  const route = routeKeyOf(path);
  return (body, client = '') => {
    const violations = body.length > MAX_LOOP_BYTES ? undefined : withinBudget(() => validateJson(judge, body));
    if (violations !== undefined) return { violations, body };
    const checks = [{ path, end: body.length }];
    const { result, cancel } = validationPool.validate({ route, client, root, checks, body });
    const judged = result.then(({ violations: [first = []], ...rest }) => ({ ...rest, violations: first }));
    return Object.assign(judged, { cancel });
  };
}

/** What is wrong with a body, as JSON and by a schema. */
export function validateJson(judge: ValueValidator, bytes: Buffer): readonly Violation[] {
  const parsed = parseStrictJson(bytes);
  if ('violation' in parsed) return [{ ...parsed.violation, pointer: truncatePointer(parsed.violation.pointer) }];
  const { value, longNumbers } = parsed;
  return judge(value, bytes.length, longNumbers && findInexactNumbers(bytes, longNumbers, value));
}
