import { truncatePointer } from '../json-pointer.ts';
import { routeKeyOf } from '../plan/route-key.ts';
import type { Path } from '../problem/finding.ts';
import { withinBudget } from '../schema/cost-budget.ts';
import type { SchemaRoot } from '../schema/schema-bundle.ts';
import type { Violation } from '../schema/schema-violation.ts';
import type { ValueValidator } from '../schema/value-validator.ts';
import type { BodyRule } from './body-rule.ts';
import { findInexactNumbers } from './inexact-numbers.ts';
import { parseStrictJson } from './strict-json.ts';
import { validationPool } from './validation-pool.ts';

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
    const checks = [{ path, end: body.length }];
    const { result, cancel } = validationPool.validate({ route, client, root, checks, body });
    const validated = result.then(({ violations: [first = []], ...rest }) => ({ ...rest, violations: first }));
    return Object.assign(validated, { cancel });
  };
}

/** Parses a body as strict JSON and validates it. */
export function validateJson(validateValue: ValueValidator, bytes: Buffer): readonly Violation[] {
  const parsed = parseStrictJson(bytes);
  if ('violation' in parsed) return [{ ...parsed.violation, pointer: truncatePointer(parsed.violation.pointer) }];
  const { value, longNumbers } = parsed;
  return validateValue(value, bytes.length, longNumbers && findInexactNumbers(bytes, longNumbers, value));
}
