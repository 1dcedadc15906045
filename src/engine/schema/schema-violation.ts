import type { ErrorObject } from 'ajv/dist/2020.js';
import { pointerStep, truncatePointer } from '../json-pointer.ts';
import { hiddenKeywordsOf } from './hidden-keywords.ts';
import { UNLIMITED } from './with-added-keywords.ts';

/** A violation of a request's schema or parameters. It contains no value of the request. */
export interface Violation {
  /** JSON Pointer (RFC 6901) into the body, or to a parameter: `/query/page`. */
  readonly pointer: string;
  readonly message: string;
  /** The `errorMessage` of the violated schema, or its `description`. */
  readonly description?: string;
}

/**
 * Converts an error of ajv to a violation. It quotes no value of the body, no member that the schema does not list, and
 * no value of the schema that came from the environment.
 */
export function toViolation(error: ErrorObject): Violation {
  const { keyword, params, instancePath, parentSchema } = error;
  const isMissing = keyword === 'required';
  const isHidden = hiddenKeywordsOf(parentSchema).includes(keyword);
  const missing: string = params['missingProperty'];
  const pointer = truncatePointer(isMissing && !isHidden ? instancePath + pointerStep(missing) : instancePath);
  const member: unknown = isMissing ? parentSchema?.['properties']?.[missing] : undefined;
  const description = authorText(member) ?? authorText(parentSchema);
  const text = isHidden ? (MESSAGES_WITHOUT_VALUE[keyword] ?? 'is not valid') : messageOf(error);
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

function messageOf({ keyword, message, params, schema }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'has an unknown member';
    case 'enum':
      return `must be one of ${(schema as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(schema)}`;
    case 'contentMaxBytes':
      return `decodes to more than ${schema}`;
    case 'contains': {
      const { minContains, maxContains } = params;
      const most = maxContains === undefined || maxContains === UNLIMITED ? '' : ` and no more than ${maxContains}`;
      return `must contain at least ${minContains}${most} valid item(s)`;
    }
    case 'multipleOf':
      return `must be multiple of ${schema}`;
    case 'false schema':
      return 'must not be present';
    default:
      return message ?? keyword;
  }
}

/** Returns the `errorMessage` of a schema, or its `description`. */
function authorText(schema: unknown): string | undefined {
  if (schema === null || typeof schema !== 'object') return undefined;
  const hidden = hiddenKeywordsOf(schema);
  const { errorMessage, description } = schema as Record<string, unknown>;
  const texts = Object.entries({ errorMessage, description });
  return texts.flatMap(([key, text]) => (typeof text === 'string' && !hidden.includes(key) ? [text] : []))[0];
}
