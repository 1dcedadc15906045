import { keywordsWith } from '../../plan/schema/keywords.ts';
import { inPlaceSchemasOf, isMap, valueAt } from '../../plan/schema/schema-walk.ts';
import type { SchemaLocation } from './compare-schemas.ts';
import { BASIC_VALUES, boundaryLengths, numberSamples, textSamples } from './scalar-samples.ts';

/** The maximum number of samples for one location. */
const MAX_SAMPLES = 600;
const MAX_DEPTH = 5;

/**
 * Creates sample values for schemas of the same value: valid and invalid ones around every bound in the schemas. Each
 * sample differs in one respect from a typical value, which is valid for all schemas if such a value was found.
 */
export function sampleValues(schemas: readonly SchemaLocation[]): readonly unknown[] {
  return samplesAt(schemas, 0, new Map());
}

type SampleCache = Map<string, readonly unknown[]>;
type Schema = Readonly<Record<string, unknown>>;

function samplesAt(schemas: readonly SchemaLocation[], depth: number, cache: SampleCache): readonly unknown[] {
  const key = JSON.stringify(schemas.map(({ side, path }) => [side, path]));
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  // The inner values of a recursive schema use these samples.
  cache.set(key, BASIC_VALUES);
  const parts = schemas.flatMap(inPlaceSchemas);
  const innerSamples: InnerSamples = (locations) =>
    depth < MAX_DEPTH ? samplesAt(locations, depth + 1, cache) : BASIC_VALUES;
  const declared = parts.flatMap(({ schema }) => [
    ...declaredSamples(schema),
    ...textSamples(schema),
    ...numberSamples(schema),
  ]);
  const samples = [
    ...declared,
    ...BASIC_VALUES,
    ...objectSamples(parts, innerSamples),
    ...listSamples(parts, innerSamples),
  ];
  const distinct = [...new Map(samples.map((value) => [JSON.stringify(value), value])).values()].slice(0, MAX_SAMPLES);
  cache.set(key, distinct);
  return distinct;
}

type InnerSamples = (schemas: readonly SchemaLocation[]) => readonly unknown[];

/** A schema, or one that applies to the same value: a referenced schema or a branch. */
interface InPlaceSchema {
  readonly location: SchemaLocation;
  readonly schema: Schema;
}

function inPlaceSchemas(start: SchemaLocation): InPlaceSchema[] {
  const parts = new Map<string, InPlaceSchema>();
  const visit = (location: SchemaLocation) => {
    const key = JSON.stringify(location.path);
    const schema = valueAt(location.root, location.path);
    if (!isMap(schema) || parts.has(key)) return;
    parts.set(key, { location, schema });
    for (const { path } of inPlaceSchemasOf(location.root, location.path)) visit({ ...location, path });
  };
  visit(start);
  return [...parts.values()];
}

function declaredSamples({ const: constant, enum: values, examples, default: standard }: Schema): unknown[] {
  return [constant, standard, ...toList(values), ...toList(examples)].filter((value) => value !== undefined);
}

function objectSamples(parts: readonly InPlaceSchema[], innerSamples: InnerSamples): unknown[] {
  const names = [...new Set(parts.flatMap(({ schema }) => Object.keys(toMap(schema['properties']))))];
  const locationsOf = (name: string) =>
    parts.flatMap((part) =>
      Object.hasOwn(toMap(part.schema['properties']), name) ? [childLocation(part, 'properties', name)] : [],
    );
  const bases = SIDES.flatMap((side) =>
    [side, undefined].map((requiredBy) => {
      const required = parts
        .filter(({ location }) => requiredBy === undefined || location.side === requiredBy)
        .flatMap(({ schema }) => toList(schema['required']))
        .filter((name) => typeof name === 'string');
      return Object.fromEntries(required.map((name) => [name, typicalValue(locationsOf(name), side, innerSamples)]));
    }),
  );
  const complete = SIDES.map((side) =>
    Object.fromEntries(names.map((name) => [name, typicalValue(locationsOf(name), side, innerSamples)])),
  );
  const open = parts.filter(({ schema }) => 'additionalProperties' in schema);
  const others = [...BASIC_VALUES, ...innerSamples(open.map((part) => childLocation(part, 'additionalProperties')))];
  return bases.flatMap((base) => [
    base,
    ...Object.keys(base).map((name) => Object.fromEntries(Object.entries(base).filter(([key]) => key !== name))),
    ...names.flatMap((name) => innerSamples(locationsOf(name)).map((value) => ({ ...base, [name]: value }))),
    ...others.map((value) => ({ ...base, [UNKNOWN_NAME]: value })),
    ...complete.map((members) => ({ ...base, ...members })),
  ]);
}

/** A name that no schema is expected to use for a member. */
const UNKNOWN_NAME = 'other';

const LIST_KEYWORDS = keywordsWith({ type: 'array' });

function listSamples(parts: readonly InPlaceSchema[], innerSamples: InnerSamples): unknown[] {
  if (!parts.some(({ schema }) => LIST_KEYWORDS.some((keyword) => keyword in schema))) return [];
  const locations = parts.flatMap((part) => ('items' in part.schema ? [childLocation(part, 'items')] : []));
  const lengths = [1, 2, ...parts.flatMap(({ schema }) => boundaryLengths(schema, ['minItems', 'maxItems']))];
  const shortLengths = lengths.filter((length) => length <= MAX_ITEMS);
  const minLength = Math.max(
    0,
    ...shortLengths.filter((length) => parts.some(({ schema }) => schema['minItems'] === length)),
  );
  return SIDES.flatMap((side) => {
    const item = typicalValue(locations, side, innerSamples);
    const others = Array(Math.max(0, minLength - 1)).fill(item);
    return [
      ...shortLengths.map((length) => Array(length).fill(item)),
      ...shortLengths.map((length) =>
        Array.from({ length }, (_, index) => (typeof item === 'string' ? `${item}${index}` : index)),
      ),
      ...innerSamples(locations).map((value) => [value, ...others]),
    ];
  });
}

const MAX_ITEMS = 1_000;

const SIDES = ['old', 'new'] as const;

/** Returns the sample that is valid for the most schemas. Schemas of this side count more. */
function typicalValue(
  locations: readonly SchemaLocation[],
  side: SchemaLocation['side'],
  innerSamples: InnerSamples,
): unknown {
  let best: unknown = 'x';
  let bestScore = -1;
  for (const value of innerSamples(locations)) {
    const accepting = locations.filter(({ validatorAt, path }) => validatorAt(path)(value, 0).length === 0);
    const score = accepting.length + locations.length * accepting.filter((location) => location.side === side).length;
    if (score <= bestScore) continue;
    best = value;
    bestScore = score;
    if (accepting.length === locations.length) break;
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
