import type { Path } from '../../problem/finding.ts';
import type { ValueValidator } from '../schema/value-validator.ts';
import type { Violation } from '../violation.ts';
import { inexactScalar } from './inexact-numbers.ts';

/** A value that is to be validated in another thread. */
export interface DeferredValue {
  readonly pointer: string;
  /** Of its schema. */
  readonly path: Path;
  /** The value as JSON: as its schema reads it, then as a string where the schema allows that too. */
  readonly texts: readonly string[];
}

/** While there is a list, values are collected in it, not validated. */
export interface DeferredValues {
  values: DeferredValue[] | undefined;
}

/** Validates one value of a parameter, decoded; `pointer` is the place of its violations. */
export type ParameterValidator = (text: string, pointer: string) => readonly Violation[];

/** RFC 8259 section 6: what every server reads as the same number. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d*)$/;

/** The schema of a parameter. */
export interface ParameterSchema {
  readonly validate: ValueValidator;
  readonly path: Path;
  /** The types that the schema names. */
  readonly types: ReadonlySet<string>;
}

/**
 * A parameter is a string, read as a number or a boolean only where its schema asks for one, and only to be
 * validated: what goes on is what was sent. `0x10`, `+1` and `007` are no numbers here, and `1e2` is no integer:
 * servers read them differently.
 */
export function createParameterValidator(
  { validate, path, types }: ParameterSchema,
  later: DeferredValues,
): ParameterValidator {
  return (text, pointer) => {
    const reading = readingOf(text, types);
    const mayBeText = reading !== text && types.has('string');
    if (later.values !== undefined) {
      const texts = [reading === text ? JSON.stringify(text) : text, ...(mayBeText ? [JSON.stringify(text)] : [])];
      later.values.push({ pointer, path, texts });
      return [];
    }
    const faults = validate(reading, text.length, typeof reading === 'number' ? inexactScalar(text) : undefined);
    if (faults.length === 0 || (mayBeText && validate(text, text.length).length === 0)) return [];
    return faults.map((fault) => ({ ...fault, pointer }));
  };
}

function readingOf(text: string, types: ReadonlySet<string>): string | number | boolean {
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  const grammar = types.has('number') ? NUMBER : types.has('integer') ? INTEGER : undefined;
  return grammar?.test(text) && Number.isFinite(Number(text)) ? Number(text) : text;
}
