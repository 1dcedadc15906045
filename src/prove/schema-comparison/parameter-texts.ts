import { valueAt } from '../../engine/json-pointer.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { type SchemaRoot, typesAt } from '../../engine/schema/schema-walk.ts';
import { type SchemaLocation, termOf } from './compare-schemas.ts';
import { normalizeSchema } from './normal-form.ts';
import { findValues } from './schema-solver.ts';
import { standaloneTerm } from './schema-terms.ts';

/** The keys of a route with the schemas of its parameters. */
export const PARAMETER_KINDS = ['params', 'query', 'headers'] as const;
export type ParameterKind = (typeof PARAMETER_KINDS)[number];

/** Serializes the rules for a parameter: two equal results accept the same texts. */
export function normalizeParameter(root: SchemaRoot, path: Path): string {
  const types = typesAt(root, path);
  // A text becomes a number or a boolean only if the schema names that type.
  const number = types.has('number') ? 'number' : types.has('integer') ? 'integer' : undefined;
  const parsed = [...(types.has('boolean') ? ['boolean'] : []), ...(number === undefined ? [] : [number])];
  const schema = { allOf: [valueAt(root, path), { type: [...parsed, 'string'] }] };
  const mayBeText = parsed.length > 0 && types.has('string');
  return JSON.stringify([parsed, mayBeText, normalizeSchema(root, schema)]);
}

/** The values of one combination of conditions. */
const MAX_VALUES = 8;
const TYPES = ['string', 'number', 'boolean'];
/** Texts that servers read differently, and one of each type. */
const BASIC_TEXTS = ['x', '', '1', '0', '-1', '0.5', 'true', 'null', '1.0', '1e2', '+1', '007', '-0'];

/** Returns texts that the schemas accept or refuse, first those that only one accepts. `isCut`: a search used its steps. */
export function parameterTexts(schemas: readonly SchemaLocation[]): { texts: readonly string[]; isCut: boolean } {
  const texts = new Set<string>();
  let isCut = false;
  for (const type of TYPES)
    for (const signs of combinationsOf(schemas.length)) {
      const terms = schemas.map((schema, index) => termOf(schema, signs[index] === true));
      const found = findValues([...terms, standaloneTerm({ type }, true)], MAX_VALUES);
      isCut ||= found.isCut;
      for (const value of found.values) for (const text of textsOf(value)) texts.add(text);
    }
  for (const text of BASIC_TEXTS) texts.add(text);
  return { texts: [...texts], isCut };
}

/** Returns whether each schema accepts the value; combinations in which they disagree come first. */
function combinationsOf(count: number): readonly (readonly boolean[])[] {
  if (count === 1) return [[true], [false]];
  return [
    [true, false],
    [false, true],
    [true, true],
    [false, false],
  ];
}

/** Returns the spellings of a value: parsers agree on the number `1.0`, but not on whether it is an integer. */
function textsOf(value: unknown): string[] {
  const text = String(value);
  return Number.isInteger(value) ? [text, `${text}.0`, `${text}e0`] : [text];
}
