import type { ValueValidator, Violation } from '../schema/value-validator.ts';
import { inexactScalar } from './inexact-numbers.ts';

/** Validates one decoded value of a parameter; its violations have the `pointer`. */
export type ParameterValidator = (text: string, pointer: string) => readonly Violation[];

/** Validates the parameters of a request: its encoded path, its query with the question mark, and its headers as received. */
export type ParametersCheck = (path: string, query: string, headers: readonly string[]) => readonly Violation[];

/** RFC 8259 section 6: every server reads these as the same number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

interface ParameterSchema {
  readonly validate: ValueValidator;
  readonly types: ReadonlySet<string>;
}

/**
 * Creates the validator of a parameter. A parameter is a string, and is parsed as a number or a boolean only if its schema
 * has that type, and only for validation: the gateway forwards the original text. `0x10`, `+1` and `007` are not numbers
 * here, and `1e2` is not an integer, because servers read them differently.
 */
export function createParameterValidator({ validate, types }: ParameterSchema): ParameterValidator {
  return (text, pointer) => {
    const value = parseValue(text, types);
    const mayBeText = value !== text && types.has('string');
    const violations = validate(value, text.length, typeof value === 'number' ? inexactScalar(text) : undefined);
    if (violations.length === 0 || (mayBeText && validate(text, text.length).length === 0)) return [];
    return violations.map((violation) => ({ ...violation, pointer }));
  };
}

function parseValue(text: string, types: ReadonlySet<string>): string | number | boolean {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const grammar = types.has('number') ? NUMBER : types.has('integer') ? INTEGER : undefined;
  return grammar?.test(text) && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Further violations are not reported. */
export const MAX_VIOLATIONS = 20;
