import type { ErrorObject } from 'ajv/dist/2020.js';
import { pointerStep, truncatePointer } from '../../json-pointer.ts';
import type { Violation } from '../violation.ts';
import { hiddenKeywordsOf } from './hidden-keywords.ts';

/**
 * Returns an error of a validator in the gateway's words. It quotes no value of the body, no member that the schema does not
 * list, and no value that the schema has from the environment.
 */
export function toViolation(error: ErrorObject): Violation {
  const { keyword, params, instancePath, parentSchema } = error;
  const isMissing = keyword === 'required';
  const isHidden = hiddenKeywordsOf(parentSchema).includes(keyword);
  const missing: string = params['missingProperty'];
  const pointer = truncatePointer(isMissing && !isHidden ? instancePath + pointerStep(missing) : instancePath);
  const member: unknown = isMissing ? parentSchema?.['properties']?.[missing] : undefined;
  const description = authorText(member) ?? authorText(parentSchema);
  const words = isHidden ? (WITHOUT_VALUE[keyword] ?? 'does not fit here') : messageOf(error);
  const message = error.propertyName === undefined ? words : `has a name that ${words}`;
  return description === undefined ? { pointer, message } : { pointer, message, description };
}

/** Messages about keywords whose values clients may not see. */
const WITHOUT_VALUE: Readonly<Record<string, string>> = {
  required: 'lacks a required member',
  enum: 'must be one of the allowed values',
  const: 'must be the one allowed value',
  pattern: 'must match the pattern of this route',
  format: 'must have the format that this route asks for',
  contentMaxBytes: 'is longer than this route takes',
};

function messageOf({ keyword, params, message, schema }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return 'has a member that is not known here';
    case 'enum':
      return `must be one of ${params['allowedValues'].map((value: unknown) => JSON.stringify(value)).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'contentMaxBytes':
      return `holds more than ${schema}`;
    case 'multipleOf':
      return `must be multiple of ${schema}`;
    case 'false schema':
      return 'must not be there';
    default:
      return message ?? keyword;
  }
}

function authorText(schema: unknown): string | undefined {
  if (schema === null || typeof schema !== 'object') return undefined;
  const hidden = hiddenKeywordsOf(schema);
  const { errorMessage, description } = schema as Record<string, unknown>;
  const told = { errorMessage, description };
  return Object.entries(told).flatMap(([key, words]) =>
    typeof words === 'string' && !hidden.includes(key) ? [words] : [],
  )[0];
}
