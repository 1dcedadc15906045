import { isDeepStrictEqual } from 'node:util';
import { validateJson } from '../../../engine/validation/body-rule.ts';
import { isJsonType, mediaTypeMatcher } from '../../../engine/validation/media-type.ts';
import {
  areEqualSchemas,
  type ComparedSchema,
  compareSchemas,
  type SchemaComparison,
} from '../../schema-comparison/compare-schemas.ts';
import { sizeOf } from '../../schema-comparison/json-value.ts';
import { schemaContent } from '../../schema-comparison/schema-content.ts';
import type { Comparison, DiffContext, DiffFinding, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, rewrittenRoutes, routesWithOtherSchemas } from '../matched-routes.ts';
import type { DiffRoute, DiffSide } from '../side.ts';
import { mediaTypeWitness } from '../witnesses/sample-witnesses.ts';

export const bodyComparison: Comparison = {
  rules: {
    'body-loosened': [
      'warning',
      'The gateway now accepts a body that it refused before: the schema is less strict, or was removed.',
    ],
    'body-tightened': [
      'info',
      'The gateway now refuses a body that it accepted before: the schema is stricter, or new.',
    ],
    'body-changed': ['warning', 'The schema of a body changed, and no sample body shows the effect.'],
    'media-types-widened': ['warning', 'A route now accepts media types that it refused before.'],
    'media-types-narrowed': ['info', 'A route no longer accepts some media types.'],
  },
  *find(sides) {
    for (const comparison of changedBodies(sides)) yield* findingsOf(comparison);
    for (const pair of rewrittenRoutes(sides)) {
      yield* changedTypes(sides, pair, true);
      yield* changedTypes(sides, pair, false);
    }
  },
};

function* findingsOf({ pair, looser, tighter, isCut }: BodyComparison): Generator<DiffFinding> {
  const [hadSchema, hasSchema] = [pair.from, pair.to].map(({ entry }) => entry.body?.schema !== undefined);
  if (!hasSchema)
    yield findingAtKey(pair, 'body-loosened', 'body', 'no longer has a schema for bodies', witnessOf(looser));
  else if (looser !== undefined)
    yield findingAtSchema(pair, 'body-loosened', 'now accepts bodies that it refused before', witnessOf(looser));
  if (!hadSchema) yield findingAtKey(pair, 'body-tightened', 'body', 'now has a schema for bodies', witnessOf(tighter));
  else if (tighter !== undefined)
    yield findingAtSchema(pair, 'body-tightened', 'now refuses bodies that it accepted before', witnessOf(tighter));
  if (!hadSchema || !hasSchema || looser !== undefined || tighter !== undefined) return;
  const reason = isCut
    ? 'the search for a body that shows the effect was cut short'
    : 'no sample body shows the effect';
  yield findingAtSchema(pair, 'body-changed', `has a different schema for bodies, and ${reason}`);
}

/** The maximum size of an example in a report. Nobody reads a longer one. */
const MAX_CHARACTERS = 100_000;

function witnessOf(body: unknown): DiffWitness | undefined {
  return body === undefined || sizeOf(body) > MAX_CHARACTERS ? undefined : { body };
}

/** Returns a finding at the body, or at the shared schema if only that schema changed. */
function findingAtSchema(pair: MatchedRoutePair, rule: string, message: string, witness?: DiffWitness): DiffFinding {
  const finding = findingAtKey(pair, rule, 'body', message, witness);
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
function changedBodies(sides: DiffContext): readonly BodyComparison[] {
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
}

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

function* changedTypes(sides: DiffContext, pair: MatchedRoutePair, isWider: boolean): Generator<DiffFinding> {
  const [old, next] = [typesOf(pair.from.entry), typesOf(pair.to.entry)];
  const [smaller, larger] = isWider ? [old, next] : [next, old];
  const isMore = smaller !== undefined && (larger === undefined || !larger.every(covers(smaller)));
  if (!isMore) return;
  const [rule, change] = isWider ? ['media-types-widened', 'more'] : ['media-types-narrowed', 'fewer'];
  const message = `accepts ${change} media types: ${formatTypes(pair.to)} (was: ${formatTypes(pair.from)})`;
  yield findingAtKey(pair, rule, 'body', message, mediaTypeWitness(sides, pair, { from: !isWider, to: isWider }));
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
