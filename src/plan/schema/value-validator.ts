import type { Path } from '../../problem/finding.ts';
import type { Violation } from '../violation.ts';
import { type AjvValidator, createAjvValidator } from './ajv-validator.ts';
import { currentValidation, type InexactNumbers, ROOT_HOLDER } from './exact-numbers.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { toViolation } from './schema-violation.ts';

const MAX_FAULTS = 20;
/** Of a longer body the first fault is told: to find all of them may take time by the square of the length. */
const EXPLAINED_BYTES = 8_192;

/**
 * Validates a parsed value; empty when it fits. `size` is how many bytes it was; `inexact`, which of its numbers a
 * double does not hold. Throws `EFFORT_SPENT` where the work is limited.
 */
export type ValueValidator = (value: unknown, size: number, inexact?: InexactNumbers) => readonly Violation[];

export interface SchemaValidators {
  /** The judge by the schema at a path of the root. Throws a sentence when that does not compile. */
  readonly validatorAt: (path: Path) => ValueValidator;
  readonly ajv: AjvValidator;
}

/** Makes the judges of the schemas in a root. */
export function createSchemaValidators(root: SchemaRoot): SchemaValidators {
  const ajv = createAjvValidator(root, false);
  const all = createAjvValidator(root, true);
  const validatorAt = (path: Path): ValueValidator => {
    const fits = ajv.compile(path);
    const explain = all.compile(path);
    return (value, size, inexact) => {
      currentValidation.inexact = inexact;
      currentValidation.violation = undefined;
      const isFitting = fits(value, contextOf(value, inexact));
      // It would keep the value in memory.
      currentValidation.inexact = undefined;
      if (isFitting) return inexactViolations();
      const errors = size > EXPLAINED_BYTES || explain(value) ? fits.errors : explain.errors;
      return (errors ?? []).slice(0, MAX_FAULTS).map(toViolation);
    };
  };
  return { validatorAt, ajv };
}

function inexactViolations(): readonly Violation[] {
  const { violation } = currentValidation;
  return violation === undefined ? [] : [toViolation(violation)];
}

/** A validator knows the holder of a member or an item; the top value has none, so the caller passes it. */
function contextOf(value: unknown, inexact: InexactNumbers | undefined) {
  if (inexact === undefined) return undefined;
  return {
    instancePath: '',
    parentData: ROOT_HOLDER,
    parentDataProperty: '',
    rootData: value as object,
    dynamicAnchors: {},
  };
}
