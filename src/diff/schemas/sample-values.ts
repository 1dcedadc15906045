import { keywordsWith } from '../../plan/schema/keywords.ts';
import { inPlaceSchemasOf, isMap, valueAt } from '../../plan/schema/schema-walk.ts';
import type { SchemaLocation } from './compare-schemas.ts';
import { BASIC_VALUES, boundaryLengths, numberSamples, textSamples } from './scalar-samples.ts';

/** For the values of one place; those inside of them are as many again. */
const MOST = 600;
const MOST_DEPTH = 5;

/**
 * Makes values for schemas that judge the same: some that fit and some that just do not, at each of the bounds that one of
 * them names. Each value differs in one thing from a usual one, of which all else fits them all, if such a one was found.
 */
export function sampleValues(schemas: readonly SchemaLocation[]): readonly unknown[] {
  return samplesAt(schemas, 0, new Map());
}

type SampleCache = Map<string, readonly unknown[]>;
type Schema = Readonly<Record<string, unknown>>;

function samplesAt(schemas: readonly SchemaLocation[], depth: number, known: SampleCache): readonly unknown[] {
  const key = JSON.stringify(schemas.map(({ side, path }) => [side, path]));
  const before = known.get(key);
  if (before !== undefined) return before;
  // A schema that refers to itself meets this.
  known.set(key, BASIC_VALUES);
  const parts = schemas.flatMap(inPlaceSchemas);
  const inside: InnerSamples = (places) => (depth < MOST_DEPTH ? samplesAt(places, depth + 1, known) : BASIC_VALUES);
  const each = parts.flatMap(({ schema }) => [
    ...declaredSamples(schema),
    ...textSamples(schema),
    ...numberSamples(schema),
  ]);
  const samples = [...each, ...BASIC_VALUES, ...objectSamples(parts, inside), ...listSamples(parts, inside)];
  const distinct = [...new Map(samples.map((value) => [JSON.stringify(value), value])).values()].slice(0, MOST);
  known.set(key, distinct);
  return distinct;
}

type InnerSamples = (schemas: readonly SchemaLocation[]) => readonly unknown[];

/** A schema, or one that judges the same value: what it refers to, and its branches. */
interface InPlaceSchema {
  readonly location: SchemaLocation;
  readonly schema: Schema;
}

function inPlaceSchemas(placed: SchemaLocation): InPlaceSchema[] {
  const parts = new Map<string, InPlaceSchema>();
  const visit = (location: SchemaLocation) => {
    const key = JSON.stringify(location.path);
    const schema = valueAt(location.root, location.path);
    if (!isMap(schema) || parts.has(key)) return;
    parts.set(key, { location, schema });
    for (const { path } of inPlaceSchemasOf(location.root, location.path)) visit({ ...location, path });
  };
  visit(placed);
  return [...parts.values()];
}

function declaredSamples({ const: only, enum: some, examples, default: usual }: Schema): unknown[] {
  return [only, usual, ...toList(some), ...toList(examples)].filter((value) => value !== undefined);
}

function objectSamples(parts: readonly InPlaceSchema[], inside: InnerSamples): unknown[] {
  const names = [...new Set(parts.flatMap(({ schema }) => Object.keys(toMap(schema['properties']))))];
  const placesOf = (name: string) =>
    parts.flatMap((part) =>
      Object.hasOwn(toMap(part.schema['properties']), name) ? [childLocation(part, 'properties', name)] : [],
    );
  const bases = SIDES.flatMap((side) =>
    [side, undefined].map((asking) => {
      const some = parts.filter(({ location }) => asking === undefined || location.side === asking);
      const required = some
        .flatMap(({ schema }) => toList(schema['required']))
        .filter((name) => typeof name === 'string');
      return Object.fromEntries(required.map((name) => [name, typicalValue(placesOf(name), side, inside)]));
    }),
  );
  const whole = SIDES.map((side) =>
    Object.fromEntries(names.map((name) => [name, typicalValue(placesOf(name), side, inside)])),
  );
  const unknown = parts.filter(({ schema }) => 'additionalProperties' in schema);
  const others = [...BASIC_VALUES, ...inside(unknown.map((part) => childLocation(part, 'additionalProperties')))];
  return bases.flatMap((base) => [
    base,
    ...Object.keys(base).map((name) => Object.fromEntries(Object.entries(base).filter(([key]) => key !== name))),
    ...names.flatMap((name) => inside(placesOf(name)).map((value) => ({ ...base, [name]: value }))),
    ...others.map((value) => ({ ...base, [UNKNOWN]: value })),
    ...whole.map((all) => ({ ...base, ...all })),
  ]);
}

/** No author calls a member like this. */
const UNKNOWN = 'other';

const ARRAY_KEYWORDS = keywordsWith({ type: 'array' });

function listSamples(parts: readonly InPlaceSchema[], inside: InnerSamples): unknown[] {
  if (!parts.some(({ schema }) => ARRAY_KEYWORDS.some((keyword) => keyword in schema))) return [];
  const places = parts.flatMap((part) => ('items' in part.schema ? [childLocation(part, 'items')] : []));
  const lengths = [1, 2, ...parts.flatMap(({ schema }) => boundaryLengths(schema, ['minItems', 'maxItems']))];
  const few = lengths.filter((length) => length <= MOST_ITEMS);
  const least = Math.max(0, ...few.filter((length) => parts.some(({ schema }) => schema['minItems'] === length)));
  return SIDES.flatMap((side) => {
    const item = typicalValue(places, side, inside);
    const others = Array(Math.max(0, least - 1)).fill(item);
    return [
      ...few.map((length) => Array(length).fill(item)),
      ...few.map((length) => Array.from({ length }, (_, at) => (typeof item === 'string' ? `${item}${at}` : at))),
      ...inside(places).map((value) => [value, ...others]),
    ];
  });
}

const MOST_ITEMS = 1_000;

const SIDES = ['old', 'new'] as const;

/** One that fits all of these schemas, or all of this side, or as many as one was found for. */
function typicalValue(places: readonly SchemaLocation[], side: SchemaLocation['side'], inside: InnerSamples): unknown {
  let best: unknown = 'x';
  let most = -1;
  for (const value of inside(places)) {
    const fitting = places.filter(({ validatorAt, path }) => validatorAt(path)(value, 0).length === 0);
    const score = fitting.length + places.length * fitting.filter((place) => place.side === side).length;
    if (score <= most) continue;
    best = value;
    most = score;
    if (fitting.length === places.length) break;
  }
  return best;
}

function childLocation({ location }: InPlaceSchema, ...steps: readonly string[]): SchemaLocation {
  return { ...location, path: [...location.path, ...steps] };
}

function toMap(value: unknown): Schema {
  return isMap(value) ? value : {};
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
