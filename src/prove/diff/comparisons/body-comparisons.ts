import { isDeepStrictEqual } from 'node:util';
import { validateJson } from '../../../engine/validation/body-rule.ts';
import { isJsonType, mediaTypeMatcher } from '../../../engine/validation/media-type.ts';
import {
  areEqualSchemas,
  type ComparedSchema,
  compareSchemas,
  type SchemaComparison,
  type SchemaExample,
} from '../../schema-comparison/compare-schemas.ts';
import { sizeOf } from '../../schema-comparison/json-value.ts';
import { schemaContent } from '../../schema-comparison/schema-content.ts';
import {
  type Comparisons,
  type DiffContext,
  type DiffFinding,
  type DiffWitness,
  type MatchedRoutePair,
  oncePerDiff,
} from '../difference.ts';
import { findingAtKey, rewrittenRoutes, routesWithOtherSchemas } from '../matched-routes.ts';
import type { DiffRoute, DiffSide } from '../side.ts';
import { mediaTypeWitness } from '../witnesses/sample-witnesses.ts';

export const bodyComparisons: Comparisons = {
  'body-loosened': {
    severity: 'warning',
    description: 'The gateway now accepts a body that it refused before: the schema is less strict, or was removed.',
    *find(sides) {
      for (const { pair, looser } of changedBodies(sides)) {
        if (pair.to.entry.body?.schema === undefined)
          yield findingAtKey(pair, 'body', 'no longer has a schema for bodies', witnessOf(looser));
        else if (looser !== undefined)
          yield findingAtSchema(pair, 'now accepts bodies that it refused before', witnessOf(looser));
      }
    },
  },
  'body-tightened': {
    severity: 'info',
    description: 'The gateway now refuses a body that it accepted before: the schema is stricter, or new.',
    *find(sides) {
      for (const { pair, tighter } of changedBodies(sides)) {
        if (pair.from.entry.body?.schema === undefined)
          yield findingAtKey(pair, 'body', 'now has a schema for bodies', witnessOf(tighter));
        else if (tighter !== undefined)
          yield findingAtSchema(pair, 'now refuses bodies that it accepted before', witnessOf(tighter));
      }
    },
  },
  'body-changed': {
    severity: 'warning',
    description: 'The schema of a body changed, and no sample body shows the effect.',
    *find(sides): Generator<DiffFinding> {
      for (const { pair, looser, tighter, isCut } of changedBodies(sides)) {
        const hasBoth = [pair.from, pair.to].every(({ entry }) => entry.body?.schema !== undefined);
        const reason = isCut ? 'the search for a body that shows the effect was cut short' : NO_SAMPLE;
        if (hasBoth && looser === undefined && tighter === undefined)
          yield findingAtSchema(pair, `has a different schema for bodies, and ${reason}`);
      }
    },
  },
  'media-types-widened': {
    severity: 'warning',
    description: 'A route now accepts media types that it refused before.',
    find: (sides) => changedTypes(sides, 'accepts more media types', true),
  },
  'media-types-narrowed': {
    severity: 'info',
    description: 'A route no longer accepts some media types.',
    find: (sides) => changedTypes(sides, 'accepts fewer media types', false),
  },
};

const NO_SAMPLE = 'no sample body shows the effect';

/** The maximum size of an example in a report. Nobody reads a longer one. */
const MAX_CHARACTERS = 100_000;

function witnessOf(example: SchemaExample | undefined): DiffWitness | undefined {
  return example === undefined || sizeOf(example.value) > MAX_CHARACTERS ? undefined : { body: example.value };
}

/** Returns a finding at the body, or at the shared schema if only that schema changed. */
function findingAtSchema(pair: MatchedRoutePair, message: string, witness?: DiffWitness): DiffFinding {
  const finding = findingAtKey(pair, 'body', message, witness);
  const { from, to } = pair;
  const schema = to.entry.body?.schema;
  const name = typeof schema === 'object' ? SHARED_REFERENCE.exec(String(schema['$ref']))?.[1] : undefined;
  const isSharedChange = name !== undefined && isDeepStrictEqual(from.entry.body, to.entry.body);
  return isSharedChange ? { ...finding, path: ['schemas', name] } : finding;
}

const SHARED_REFERENCE = /^#\/schemas\/([^/]+)$/;

interface BodyComparison extends SchemaComparison {
  readonly pair: MatchedRoutePair;
}

/** Returns the pairs whose schemas differ. */
const changedBodies = oncePerDiff((sides): readonly BodyComparison[] => {
  // Many routes may use one schema.
  const known = new Map<string, SchemaComparison | undefined>();
  return [...routesWithOtherSchemas(sides)].flatMap((pair) => {
    const [old, next] = [schemaOf(sides.old, pair.from), schemaOf(sides.next, pair.to)];
    const [before, now] = [old, next].map(({ root, path }) => schemaContent(root, path));
    if (before === now) return [];
    const limits = [pair.from, pair.to].map(({ route }) => route.body?.limitBytes);
    const key = JSON.stringify([limits, before, now]);
    if (!known.has(key)) known.set(key, areEqualSchemas(old, next) ? undefined : compareSchemas(old, next));
    const comparison = known.get(key);
    return comparison === undefined ? [] : [{ pair, ...comparison }];
  });
});

/** Returns the schema of a route, with the gateway's validation of bodies. */
function schemaOf({ schemas, validatorAt }: DiffSide, { entry, path, route }: DiffRoute): ComparedSchema {
  const limit = route.body?.limitBytes ?? Number.POSITIVE_INFINITY;
  if (entry.body?.schema === undefined)
    return { ...ANYTHING, accepts: (value) => bytesOf(value).length <= limit, refuses: () => false };
  const at = [...path, 'body', 'schema'];
  const isValid = (bytes: Buffer) => validateJson(validatorAt(at), bytes).length === 0;
  return {
    root: schemas,
    path: at,
    accepts: (value) => bytesOf(value).length <= limit && isValid(bytesOf(value)),
    refuses: (value) => !isValid(bytesOf(value)),
  };
}

function bytesOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** The schema of a route without a schema. */
const ANYTHING = { root: { schemas: { anything: true }, routes: [], files: {} }, path: ['schemas', 'anything'] };

/** `undefined` accepts every type. */
type AcceptedTypes = readonly string[] | undefined;

function* changedTypes(sides: DiffContext, message: string, isWider: boolean): Generator<DiffFinding> {
  for (const pair of rewrittenRoutes(sides)) {
    const [old, next] = [typesOf(pair.from.entry), typesOf(pair.to.entry)];
    const [smaller, larger] = isWider ? [old, next] : [next, old];
    const isMore = smaller !== undefined && (larger === undefined || !larger.every(covers(smaller)));
    if (!isMore) continue;
    const text = `${message}: ${formatTypes(pair.to)} (was: ${formatTypes(pair.from)})`;
    yield findingAtKey(pair, 'body', text, mediaTypeWitness(sides, pair, { from: !isWider, to: isWider }));
  }
}

const ANY_JSON = 'application/*+json';

/** Returns a function that is true for a type, or a wildcard such as `image/*`, that the list covers completely. */
function covers(types: readonly string[]): (type: string) => boolean {
  const matches = mediaTypeMatcher(types);
  const hasAnyJson = types.includes(ANY_JSON);
  return (type) => matches(type.toLowerCase()) || (hasAnyJson && isJsonType(type));
}

function typesOf({ body }: MatchedRoutePair['from']['entry']): AcceptedTypes {
  if (body === undefined || body.types !== undefined) return body?.types;
  if (body.schema !== undefined) return ['application/json', ANY_JSON];
  const formTypes = [...(body.multipart ? ['multipart/form-data'] : []), ...(body.csv ? ['text/csv'] : [])];
  return formTypes.length === 0 ? undefined : formTypes;
}

function formatTypes({ redactedEntry }: MatchedRoutePair['from']): string {
  return typesOf(redactedEntry)?.join(', ') ?? 'any';
}
