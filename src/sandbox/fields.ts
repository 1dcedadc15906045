import { SandboxError } from './response.ts';

/** A JSON object of which nothing is known yet. What is wrong with a member is a 400 that names it. */
export type Fields = Readonly<Record<string, unknown>>;

export function parseFields(body: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new SandboxError(400, 'the body is not JSON');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new SandboxError(400, 'the body must be a JSON object');
}

/** A member that is a text; one that may be missing has a default, any other is not empty. */
export function textField(fields: Fields, name: string, otherwise?: string): string {
  const value = fields[name] ?? otherwise;
  if (value === undefined) throw new SandboxError(400, `"${name}" is required`);
  if (typeof value !== 'string') throw new SandboxError(400, `"${name}" must be a string`);
  if (otherwise === undefined && value.trim() === '') throw new SandboxError(400, `"${name}" is empty`);
  return value;
}

/** A required e-mail address, in lower case: addresses are compared so throughout. */
export function emailField(fields: Fields, name: string): string {
  const value = textField(fields, name).trim().toLowerCase();
  if (!isEmail(value)) throw new SandboxError(400, `"${name}" is not an e-mail address`);
  return value;
}

/** Whether a text looks like an address; only a mail could tell for certain. */
export function isEmail(value: string): boolean {
  return value.length <= 254 && /^[^\s@<>",;]+@[^\s@<>",;.]+(\.[^\s@<>",;.]+)+$/.test(value);
}
