import type { Path } from '../../problem/finding.ts';
import type { Violation } from '../violation.ts';
import { createAjvValidator } from './ajv-validator.ts';
import { currentValidation, type InexactNumbers, ROOT_HOLDER } from './exact-numbers.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { toViolation } from './schema-violation.ts';

const MAX_VIOLATIONS = 20;
/** Only the first violation of a longer body is reported: the search for all may take time quadratic in the length. */
const MAX_EXPLAINED_BYTES = 8_192;

/**
 * Validates a parsed value; returns no violations if it is valid. `size` is the length of its text in bytes; `inexact` are
 * the numbers that a double cannot represent. Throws `BUDGET_EXCEEDED` if the cost is limited.
 */
export type ValueValidator = (value: unknown, size: number, inexact?: InexactNumbers) => readonly Violation[];

/** The validators of the schemas in a root. */
export interface SchemaValidators {
  /** Compiles the schema at a path of the root. Throws an error that says why if it does not compile. */
  readonly validatorAt: (path: Path) => ValueValidator;
}

/** Creates the validators of the schemas in a root. */
export function createSchemaValidators(root: SchemaRoot): SchemaValidators {
  const ajv = createAjvValidator(root, false);
  const explainingAjv = createAjvValidator(root, true);
  const validatorAt = (path: Path): ValueValidator => {
    const validate = ajv.compile(path);
    const explain = explainingAjv.compile(path);
    return (value, size, inexact) => {
      currentValidation.inexact = inexact;
      currentValidation.violation = undefined;
      const isValid = validate(value, contextOf(value, inexact));
      // A reference left here would keep the value in memory.
      currentValidation.inexact = undefined;
      if (isValid) return inexactViolations();
      const errors = size > MAX_EXPLAINED_BYTES || explain(value) ? validate.errors : explain.errors;
      return (errors ?? []).slice(0, MAX_VIOLATIONS).map(toViolation);
    };
  };
  return { validatorAt };
}

function inexactViolations(): readonly Violation[] {
  const { violation } = currentValidation;
  return violation === undefined ? [] : [toViolation(violation)];
}

/** Creates the context of a root value. ajv knows the holder of a member or item; the root value has none, so it is passed. */
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
