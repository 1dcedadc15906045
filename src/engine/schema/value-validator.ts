import type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';
import { getOrCreate } from '../get-or-create.ts';
import { pointerStep, truncatePointer, valueAt } from '../json-pointer.ts';
import type { SlicedWork } from '../plan/sliced-work.ts';
import type { Path } from '../problem/finding.ts';
import { createAjvCompiler } from './ajv-validator.ts';
import { charge } from './cost-budget.ts';
import { currentValidation, type InexactNumbers, ROOT_HOLDER } from './exact-numbers.ts';
import { hiddenKeywordsOf } from './hidden-keywords.ts';
import { reachableSchemas, type SchemaRoot } from './schema-walk.ts';
import { UNLIMITED } from './with-added-keywords.ts';

const MAX_VIOLATIONS = 20;
/** Only the first violation of a longer body is reported: the search for all may take time quadratic in the length. */
const MAX_EXPLAINED_BYTES = 8_192;

/**
 * Validates a parsed value; returns no violations if it is valid. `size` is the length of its text in bytes; `inexact` are
 * the numbers that a double cannot represent. Throws `BUDGET_EXCEEDED` if the cost is limited.
 */
export type ValueValidator = (value: unknown, size: number, inexact?: InexactNumbers) => readonly Violation[];

/** The validator of all schemas with the same content. It is compiled on first use. */
interface ContentValidator {
  /** The JSON text of the schema. */
  readonly content: string;
  /** True if only a thread without a cost budget may compile it. */
  readonly isLarge: boolean;
  readonly validate: ValueValidator;
  /** Compiles the schema now, unless that is done. Throws an error that says why if it does not compile. */
  readonly compile: () => SlicedWork<void>;
}

/** The state of the schemas of a root. */
export type SchemaCompilations = ReturnType<typeof createSchemaValidators>['compilations'];

/** Creates the validators of a root, one for equal contents. A schema with more than `maxServed` subschemas exceeds every cost budget. */
export function createSchemaValidators(root: SchemaRoot, maxServed = Number.POSITIVE_INFINITY) {
  // By `allErrors`. Created with the first schema, because many manifests have no schema.
  const compilers = new Map<boolean, ReturnType<typeof createAjvCompiler>>();
  const bySchema = new Map<unknown, ContentValidator>();
  const byContent = new Map<string, ContentValidator>();
  const compiledContents = new Set<string>();
  const create = (content: string, path: Path): ContentValidator => {
    let isLarge: boolean | undefined;
    const functions = new Map<boolean, ValidateFunction>();
    const functionOf = (allErrors: boolean) =>
      getOrCreate(functions, allErrors, () => {
        const compile = getOrCreate(compilers, allErrors, () => createAjvCompiler(root, allErrors));
        const validate = compile(path);
        compiledContents.add(content);
        return validate;
      });
    const validator = {
      content,
      get isLarge() {
        isLarge ??= reachableSchemas(root, path, maxServed).length > maxServed;
        return isLarge;
      },
      validate: createValueValidator(
        () => {
          if (validator.isLarge) charge(Number.MAX_SAFE_INTEGER);
          return functionOf(false);
        },
        () => functionOf(true),
      ),
      *compile() {
        functionOf(false);
        yield;
        functionOf(true);
      },
    };
    return validator;
  };
  const contentValidatorAt = (path: Path): ContentValidator => {
    const schema = valueAt(root, path);
    return getOrCreate(bySchema, schema, () => {
      const content = JSON.stringify(schema) ?? '';
      return getOrCreate(byContent, content, () => create(content, path));
    });
  };
  /** Compiles the selected schemas step by step, so that no request waits for them. */
  function* compileAhead(isNeeded: (content: string) => boolean): SlicedWork<void> {
    for (const validator of byContent.values()) {
      if (!validator.isLarge && isNeeded(validator.content)) yield* validator.compile();
      yield;
    }
  }
  return {
    /** Returns the validator of the schema at a path. It is compiled on first use. */
    validatorAt: (path: Path) => contentValidatorAt(path).validate,
    contentValidatorAt,
    compilations: { compiledContents, hasContent: (content: string) => byContent.has(content), compileAhead },
  };
}

/** Validates with two functions that are compiled on first use: one finds the first violation, the other one all of them. */
function createValueValidator(first: () => ValidateFunction, explaining: () => ValidateFunction): ValueValidator {
  return (value, size, inexact) => {
    const validate = first();
    currentValidation.inexact = inexact;
    currentValidation.violation = undefined;
    const isValid = validate(value, contextOf(value, inexact));
    // A reference left here would keep the value in memory.
    currentValidation.inexact = undefined;
    const { violation } = currentValidation;
    if (isValid) return violation === undefined ? [] : [toViolation(violation)];
    const explain = size > MAX_EXPLAINED_BYTES ? undefined : explaining();
    const errors = explain === undefined || explain(value) ? validate.errors : explain.errors;
    return (errors ?? []).slice(0, MAX_VIOLATIONS).map(toViolation);
  };
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

/** A violation of a request's schema or parameters. It contains no value of the request. */
export interface Violation {
  /** JSON Pointer (RFC 6901) into the body, or to a parameter: `/query/page`. */
  readonly pointer: string;
  readonly message: string;
  /** The `errorMessage` of the violated schema, or its `description`. */
  readonly description?: string;
}

/** Converts an error of ajv to a violation. It quotes no value of the body, no unlisted member, and no value from the environment. */
function toViolation(error: ErrorObject): Violation {
  const { keyword, params, instancePath, parentSchema } = error;
  const isMissing = keyword === 'required';
  const isHidden = hiddenKeywordsOf(parentSchema).includes(keyword);
  const missing: string = params['missingProperty'];
  const pointer = truncatePointer(isMissing && !isHidden ? instancePath + pointerStep(missing) : instancePath);
  const member: unknown = isMissing ? parentSchema?.['properties']?.[missing] : undefined;
  const description = authorText(member) ?? authorText(parentSchema);
  const text = isHidden
    ? (MESSAGES_WITHOUT_VALUE[keyword] ?? 'is not valid')
    : (MESSAGES[keyword]?.(error) ?? error.message ?? keyword);
  const message = error.propertyName === undefined ? text : `has a name that ${text}`;
  return description === undefined ? { pointer, message } : { pointer, message, description };
}

/** Messages for keywords whose values clients may not see. */
const MESSAGES_WITHOUT_VALUE: Readonly<Record<string, string>> = {
  required: 'lacks a required member',
  enum: 'must be one of the allowed values',
  const: 'must be the one allowed value',
  pattern: 'must match the pattern of this route',
  format: 'must have the format that this route requires',
  contentMaxBytes: 'is longer than this route accepts',
};

/** Messages for keywords whose message from ajv quotes the request, or says less. */
const MESSAGES: Readonly<Record<string, (error: ErrorObject) => string>> = {
  required: () => 'is missing',
  additionalProperties: () => 'has an unknown member',
  unevaluatedProperties: () => 'has an unknown member',
  enum: ({ schema }) => `must be one of ${(schema as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`,
  const: ({ schema }) => `must be ${JSON.stringify(schema)}`,
  contentMaxBytes: ({ schema }) => `decodes to more than ${schema}`,
  contains: ({ params: { minContains, maxContains } }) => {
    const most = maxContains === undefined || maxContains === UNLIMITED ? '' : ` and no more than ${maxContains}`;
    return `must contain at least ${minContains}${most} valid item(s)`;
  },
  multipleOf: ({ schema }) => `must be multiple of ${schema}`,
  'false schema': () => 'must not be present',
};

/** Returns the `errorMessage` of a schema, or its `description`. */
function authorText(schema: unknown): string | undefined {
  if (schema === null || typeof schema !== 'object') return undefined;
  const hidden = hiddenKeywordsOf(schema);
  const { errorMessage, description } = schema as Record<string, unknown>;
  const texts = Object.entries({ errorMessage, description });
  return texts.flatMap(([key, text]) => (typeof text === 'string' && !hidden.includes(key) ? [text] : []))[0];
}
