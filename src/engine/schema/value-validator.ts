import type { ValidateFunction } from 'ajv/dist/2020.js';
import { valueAt } from '../json-pointer.ts';
import type { SlicedWork } from '../plan/sliced-work.ts';
import type { Path } from '../problem/finding.ts';
import { type AjvValidator, createAjvValidator } from './ajv-validator.ts';
import { currentValidation, type InexactNumbers, ROOT_HOLDER } from './exact-numbers.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { toViolation, type Violation } from './schema-violation.ts';

const MAX_VIOLATIONS = 20;
/** Only the first violation of a longer body is reported: the search for all may take time quadratic in the length. */
const MAX_EXPLAINED_BYTES = 8_192;

/**
 * Validates a parsed value; returns no violations if it is valid. `size` is the length of its text in bytes; `inexact` are
 * the numbers that a double cannot represent. Throws `BUDGET_EXCEEDED` if the cost is limited.
 */
export type ValueValidator = (value: unknown, size: number, inexact?: InexactNumbers) => readonly Violation[];

/** The validator of all schemas with the same content. It is compiled on first use. */
export interface ContentValidator {
  /** The JSON text of the schema. */
  readonly content: string;
  readonly validate: ValueValidator;
  /** Compiles the schema now, unless that is done. Throws an error that says why if it does not compile. */
  readonly compile: () => void;
}

/** The state of the schemas of a root. */
export interface SchemaCompilations {
  /** The contents of the compiled schemas. */
  readonly compiledContents: ReadonlySet<string>;
  /** True if a schema of the root has this content. */
  readonly hasContent: (content: string) => boolean;
  /** Compiles schemas step by step, until this many are compiled. */
  readonly compileAhead: (count: number) => SlicedWork<void>;
}

/** The validators of the schemas in a root. */
export interface SchemaValidators {
  /** Returns the validator of the schema at a path. It is compiled on first use. */
  readonly validatorAt: (path: Path) => ValueValidator;
  readonly contentValidatorAt: (path: Path) => ContentValidator;
  readonly compilations: SchemaCompilations;
}

/**
 * Creates the validators of the schemas in a root. Schemas of the same content are compiled once: in one root, equal
 * contents mean the same, because references are absolute.
 */
export function createSchemaValidators(root: SchemaRoot): SchemaValidators {
  // Created with the first schema, because many manifests have no schema.
  let ajv: AjvValidator | undefined;
  let explainingAjv: AjvValidator | undefined;
  const bySchema = new Map<unknown, ContentValidator>();
  const byContent = new Map<string, ContentValidator>();
  const compiledContents = new Set<string>();
  const create = (content: string, path: Path): ContentValidator => {
    let validate: ValueValidator | undefined;
    const compile = () => {
      ajv ??= createAjvValidator(root, false);
      explainingAjv ??= createAjvValidator(root, true);
      validate ??= createValueValidator(ajv.compile(path), explainingAjv.compile(path));
      compiledContents.add(content);
      return validate;
    };
    return {
      content,
      compile,
      validate: (value, size, inexact) => (validate ?? compile())(value, size, inexact),
    };
  };
  const contentValidatorAt = (path: Path): ContentValidator => {
    const schema = valueAt(root, path);
    const known = bySchema.get(schema);
    if (known !== undefined) return known;
    const content = JSON.stringify(schema) ?? '';
    const validator = byContent.get(content) ?? create(content, path);
    bySchema.set(schema, validator);
    byContent.set(content, validator);
    return validator;
  };
  function* compileAhead(count: number): SlicedWork<void> {
    for (const { compile } of byContent.values()) {
      if (compiledContents.size >= count) return;
      compile();
      yield;
    }
  }
  return {
    validatorAt: (path) => contentValidatorAt(path).validate,
    contentValidatorAt,
    compilations: { compiledContents, hasContent: (content) => byContent.has(content), compileAhead },
  };
}

/** @param explain finds all violations, where `validate` finds the first one */
function createValueValidator(validate: ValidateFunction, explain: ValidateFunction): ValueValidator {
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
