import { inPlaceOf, isMap, valueAt } from '../../plan/schema-walk.ts';
import type { Path } from '../../problem/finding.ts';
import type { Placed } from './compare.ts';
import { BASIC, listSamples, numberSamples, textSamples } from './values.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Of one schema; nested ones have as many of their own. */
const MOST = 400;
const MOST_DEPTH = 5;

/** Makes values for a schema: some that fit it and some that just do not, at each of the bounds that it names. */
export function samplesOf({ root, path, judgeAt }: Placed): readonly unknown[] {
  const known = new Map<string, readonly unknown[]>();

  const samplesAt = (at: Path, depth: number): readonly unknown[] => {
    const key = JSON.stringify(at);
    const before = known.get(key);
    if (before !== undefined) return before;
    // A schema that refers to itself meets this.
    known.set(key, BASIC);
    const samples = distinct(make(at, depth)).slice(0, MOST);
    known.set(key, samples);
    return samples;
  };
  const make = (at: Path, depth: number): unknown[] => {
    const schema = valueAt(root, at);
    if (!isMap(schema) || depth > MOST_DEPTH) return [...BASIC];
    const inside: Inside = (...steps) => samplesAt([...at, ...steps], depth + 1);
    const fitting: Fitting = (...steps) => {
      const judge = judgeAt([...at, ...steps]);
      return inside(...steps).find((value) => judge(value, 0).length === 0);
    };
    const branches = [...inPlaceOf(root, at)].map((branch) => samplesAt(branch.at, depth + 1));
    return [
      ...statedSamples(schema),
      ...objectSamples(schema, inside, fitting),
      ...textSamples(schema),
      ...numberSamples(schema),
      ...listSamples(schema, inside, fitting),
      ...BASIC,
      ...mergedSamples(branches),
      ...branches.flat(),
    ];
  };
  return samplesAt(path, 0);
}

export type Inside = (...steps: Path) => readonly unknown[];
export type Fitting = (...steps: Path) => unknown;

function statedSamples(schema: Schema): unknown[] {
  const { const: only, enum: some, examples, default: usual } = schema;
  return [only, usual, ...listOf(some), ...listOf(examples)].filter((value) => value !== undefined);
}

/** One that has what is required, and each that differs from it in one member. */
function objectSamples(schema: Schema, inside: Inside, fitting: Fitting): unknown[] {
  const properties = isMap(schema['properties']) ? schema['properties'] : {};
  const required = listOf(schema['required']).filter((name) => typeof name === 'string');
  const usualOf = (name: string) => (Object.hasOwn(properties, name) ? fitting('properties', name) : 'x');
  const base = Object.fromEntries(required.map((name) => [name, usualOf(name)]));
  const without = required.map((name) => Object.fromEntries(Object.entries(base).filter(([key]) => key !== name)));
  const unknown = [...BASIC, ...('additionalProperties' in schema ? inside('additionalProperties') : [])];
  const others = Object.keys(properties).flatMap((name) =>
    inside('properties', name).map((value) => ({ ...base, [name]: value })),
  );
  const whole = Object.fromEntries(Object.keys(properties).map((name) => [name, usualOf(name)]));
  return [
    base,
    ...without,
    ...unknown.map((value) => ({ ...base, [UNKNOWN]: value })),
    ...others,
    { ...base, ...whole },
  ];
}

/** No author calls a member like this. */
const UNKNOWN = 'other';

/** Of branches that hold together: what each of them asks for, in one object. */
function mergedSamples(branches: readonly (readonly unknown[])[]): unknown[] {
  const objects = branches.map((samples) => samples.filter(isMap).slice(0, 40));
  if (objects.filter(({ length }) => length > 0).length < 2) return [];
  const base: Schema = Object.assign({}, ...objects.map(([first]) => first ?? {}));
  return objects.flatMap((some) => some.map((object) => ({ ...base, ...object })));
}

function distinct(values: readonly unknown[]): unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
