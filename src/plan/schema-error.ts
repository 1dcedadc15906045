import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Fault } from './plan.ts';
import { pointerStep, shortPointer } from './pointer.ts';

/** What a validator found, in our words and without a value of the body; names of members that nobody listed are no better. */
export function toFault(error: ErrorObject): Fault {
  const { keyword, params, instancePath, parentSchema } = error;
  const isMissing = keyword === 'required';
  const pointer = shortPointer(isMissing ? instancePath + pointerStep(params['missingProperty']) : instancePath);
  const member: unknown = isMissing ? parentSchema?.['properties']?.[params['missingProperty']] : undefined;
  const description = ownWords(member) ?? ownWords(parentSchema);
  const message = error.propertyName === undefined ? messageOf(error) : `has a name that ${messageOf(error)}`;
  return description === undefined ? { pointer, message } : { pointer, message, description };
}

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
    case 'false schema':
      return 'must not be there';
    default:
      return message ?? keyword;
  }
}

function ownWords(schema: unknown): string | undefined {
  if (schema === null || typeof schema !== 'object') return undefined;
  const { errorMessage, description } = schema as Record<string, unknown>;
  return [errorMessage, description].find((words) => typeof words === 'string');
}
