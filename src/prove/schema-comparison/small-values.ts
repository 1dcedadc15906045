import { keywordsOf } from '../../engine/schema/schema-walk.ts';
import { targetOf } from './evaluate-schema.ts';
import { distinct } from './json-value.ts';
import { reachedFrom, referencesIn } from './schema-content.ts';
import type { SchemaTerm } from './schema-terms.ts';

const SCALARS: readonly unknown[] = ['', 'a', 'b', 'x', 'ab', 'aa', 0, 1, -1, 0.5, 2, 3, true, false, null];
const FEW: readonly unknown[] = ['', 'a', 1, 0.5, null, true, [], {}];
/** The constants and names of the schemas that are combined. */
const MAX_CONSTANTS = 12;
const MAX_NAMES = 5;
/** Large schemas validate slowly, so that fewer values are tried. */
const MAX_WORK = 20_000_000;

/** Returns small values of all types, with the names and constants of some schemas. */
export function smallValues(terms: readonly SchemaTerm[]): readonly unknown[] {
  const { names, constants, characters } = vocabularyOf(terms);
  const scalars = distinct([...SCALARS, ...constants.slice(0, MAX_CONSTANTS)]);
  const members = distinct([...distinct(names).slice(0, MAX_NAMES), 'x']).map(String);
  const inner = [
    ...members.slice(0, 3).flatMap((name) => FEW.map((value) => ({ [name]: value }))),
    ...FEW.map((value) => [value]),
  ];
  const values = [
    ...scalars,
    [],
    {},
    ...scalars.map((value) => [value]),
    ...members.flatMap((name) => [...scalars, [], {}, ...inner].map((value) => ({ [name]: value }))),
    ...FEW.flatMap((one) => FEW.map((other) => [one, other])),
    ...members.flatMap((name, index) => members.slice(index + 1).flatMap((other) => pairsOf(name, other))),
    ...inner.map((value) => [value]),
    ...FEW.flatMap((value) => [1, 'a', value].map((last) => [value, value, last])),
  ];
  return values.slice(0, Math.max(100, Math.ceil(MAX_WORK / (characters + 1))));
}

function pairsOf(name: string, second: string): unknown[] {
  return FEW.flatMap((one) => FEW.map((other) => ({ [name]: one, [second]: other })));
}

/** Returns the names of members, the constants and the size of schemas and of those that they refer to. */
function vocabularyOf(terms: readonly SchemaTerm[]) {
  const [names, constants]: [string[], unknown[]] = [[], []];
  let characters = 0;
  for (const { root, schema } of terms) {
    const reached = [...reachedFrom(root, referencesIn(schema))].map((name) => targetOf(root, name));
    for (const inside of [schema, ...reached]) {
      characters += JSON.stringify(inside)?.length ?? 0;
      for (const { key, value } of keywordsOf(inside, [])) {
        if (NAMING.has(key)) names.push(...(Array.isArray(value) ? value.map(String) : Object.keys(Object(value))));
        if (key === 'const') constants.push(value);
        if (key === 'enum' && Array.isArray(value)) constants.push(...value.slice(0, MAX_CONSTANTS));
      }
    }
  }
  return { names: names.filter((name) => name !== '__proto__'), constants: distinct(constants), characters };
}

const NAMING = new Set(['properties', 'required', 'dependentRequired', 'dependentSchemas']);
