import { createAjvCompiler } from '../../src/engine/schema/ajv-validator.ts';
import { createSchemaValidators } from '../../src/engine/schema/value-validator.ts';
import type { ComparedSchema } from '../../src/prove/schema-comparison/compare-schemas.ts';

/** A schema with its validators. */
interface TestSchema extends ComparedSchema {
  /** Validates without the checks of inexact numbers, faster than `accepts`. */
  readonly acceptsSmall: (value: unknown) => boolean;
}

/** Returns a schema with its validators. References lead to `#/schemas/` and a name of `others`. */
export function comparedSchema(schema: unknown, others: Record<string, unknown> = {}): TestSchema {
  const root = { schemas: { ...others, it: schema }, routes: [], files: {} } as unknown as ComparedSchema['root'];
  const path = ['schemas', 'it'];
  const { validatorAt } = createSchemaValidators(root);
  const validateSmall = createAjvCompiler(root, false)(path);
  let validate: ReturnType<typeof validatorAt> | undefined;
  const accepts = (value: unknown) => {
    validate ??= validatorAt(path);
    return validate(value, Number.POSITIVE_INFINITY).length === 0;
  };
  return {
    root,
    path,
    accepts,
    refuses: (value) => !accepts(value),
    acceptsSmall: (value) => validateSmall(value) === true,
  };
}

const SHARED = { Shared: { type: 'object', properties: { a: { type: 'string', minLength: 1 } } } };

/** Returns a random schema with its validators; `undefined` if the gateway refuses the schema. */
export function loadableSchema(schema: unknown): TestSchema | undefined {
  try {
    return comparedSchema(schema, SHARED);
  } catch {
    return undefined;
  }
}
