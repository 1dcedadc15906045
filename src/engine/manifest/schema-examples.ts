import type { ErrorObject } from 'ajv';
import { formatFlow } from './flow-yaml.ts';

/** Returns an example for a missing member from the schema. */
export function exampleOf(error: ErrorObject, missing: string): string {
  const member = error.parentSchema?.['properties']?.[missing];
  if (Array.isArray(member?.enum)) return member.enum.join(' or ');
  const example: unknown = member?.examples?.[0];
  if (example === undefined) return '…';
  return exampleText(example);
}

/** Returns examples as the end of a sentence. */
export function examplesText(examples: unknown): string {
  if (!Array.isArray(examples) || examples.length === 0) return '';
  return `; write for example ${examples.map(exampleText).join(' or ')}`;
}

/** Formats an example as YAML. Quotes around a complete string would be noise in a sentence. */
function exampleText(example: unknown): string {
  return typeof example === 'string' ? example : formatFlow(example);
}
