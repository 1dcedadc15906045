import { SandboxError } from './response.ts';

/** An unvalidated JSON object. The functions below read a member, and throw 400 with its name if it is invalid. */
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

/** Returns a string member. Without a fallback it is required and must not be empty. */
export function textField(fields: Fields, name: string, fallback?: string): string {
  const value = fields[name] ?? fallback;
  if (value === undefined) throw new SandboxError(400, `"${name}" is required`);
  if (typeof value !== 'string') throw new SandboxError(400, `"${name}" must be a string`);
  if (fallback === undefined && value.trim() === '') throw new SandboxError(400, `"${name}" is empty`);
  return value;
}

/** Returns a required e-mail address in lower case, as the database stores addresses. */
export function emailField(fields: Fields, name: string): string {
  const value = textField(fields, name).trim().toLowerCase();
  if (!isEmail(value)) throw new SandboxError(400, `"${name}" is not an e-mail address`);
  return value;
}

/** True if a text looks like an e-mail address. */
export function isEmail(value: string): boolean {
  return value.length <= 254 && /^[^\s@<>",;]+@[^\s@<>",;.]+(\.[^\s@<>",;.]+)+$/.test(value);
}
