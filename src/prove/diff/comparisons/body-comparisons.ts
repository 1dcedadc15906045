import { isDeepStrictEqual } from 'node:util';
import { getOrCreate } from '../../../engine/get-or-create.ts';
import { sizeBytes } from '../../../engine/manifest/units.ts';
import { isJsonType, mediaTypeMatcher } from '../../../engine/validation/media-type.ts';
import { validateJson } from '../../../engine/validation/request-rules.ts';
import {
  areEqualSchemas,
  type ComparedSchema,
  compareSchemas,
  type SchemaComparison,
} from '../../schema-comparison/compare-schemas.ts';
import { sizeOf } from '../../schema-comparison/json-value.ts';
import { schemaContent } from '../../schema-comparison/schema-content.ts';
import type { Comparison, DiffFinding, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, rewrittenRoutes, routesWithOtherSchemas } from '../matched-routes.ts';
import type { DiffRoute } from '../side.ts';
import { limitWitness, mediaTypeWitness } from '../witnesses/sample-witnesses.ts';

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
    // Many routes may use one schema.
    const known = new Map<string, SchemaComparison | undefined>();
    for (const pair of routesWithOtherSchemas(sides)) {
      const comparison = compareBodies(pair, known);
      if (comparison !== undefined) yield* schemaFindings(pair, comparison);
    }
    for (const pair of rewrittenRoutes(sides)) {
      yield* changedTypes(pair, true);
      yield* changedTypes(pair, false);
    }
  },
};

function* schemaFindings(pair: MatchedRoutePair, { looser, tighter, isCut }: SchemaComparison): Generator<DiffFinding> {
  const [hadSchema, hasSchema] = [pair.from, pair.to].map(({ entry }) => entry.body?.schema !== undefined);
  if (!hasSchema)
    yield findingAtKey(pair, 'body-loosened', 'body', 'no longer has a schema for bodies', witnessOf(looser));
  else if (looser !== undefined)
    yield findingAtSchema(pair, 'body-loosened', 'now accepts bodies that it refused before', witnessOf(looser));
  if (!hadSchema) yield findingAtKey(pair, 'body-tightened', 'body', 'now has a schema for bodies', witnessOf(tighter));
  else if (tighter !== undefined) {
    const message = 'now refuses bodies that it accepted before';
    yield { ...findingAtSchema(pair, 'body-tightened', message, witnessOf(tighter)), isOpen: isCut };
  }
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

/** Compares the schemas of two routes; `undefined` if they are equal. @param known the results for other routes */
function compareBodies(
  { from, to }: MatchedRoutePair,
  known: Map<string, SchemaComparison | undefined>,
): SchemaComparison | undefined {
  const [old, next] = [schemaOf(from), schemaOf(to)];
  const [before, now] = [old, next].map(({ root, path }) => schemaContent(root, path));
  if (before === now) return undefined;
  const key = JSON.stringify([from.route.body?.limitBytes, to.route.body?.limitBytes, before, now]);
  const compare = () => (areEqualSchemas(old, next) ? undefined : compareSchemas(old, next));
  return getOrCreate(known, key, compare);
}

/** Returns the schema of a route, with the gateway's validation of bodies. */
function schemaOf({ side, entry, path, route }: DiffRoute): ComparedSchema {
  const limit = route.body?.limitBytes ?? Number.POSITIVE_INFINITY;
  if (entry.body?.schema === undefined)
    return { ...ANYTHING, accepts: (value) => bytesOf(value).length <= limit, refuses: () => false };
  const at = [...path, 'body', 'schema'];
  const isValid = (bytes: Buffer) => validateJson(side.validatorAt(at), bytes).length === 0;
  return {
    root: side.schemas,
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

function* changedTypes(pair: MatchedRoutePair, isWider: boolean): Generator<DiffFinding> {
  const [old, next] = [typesOf(pair.from.entry), typesOf(pair.to.entry)];
  const [smaller, larger] = isWider ? [old, next] : [next, old];
  const isMore = smaller !== undefined && (larger === undefined || !larger.every(covers(smaller)));
  if (!isMore) return;
  const [rule, change] = isWider ? ['media-types-widened', 'more'] : ['media-types-narrowed', 'fewer'];
  const message = `accepts ${change} media types: ${formatTypes(pair.to)} (was: ${formatTypes(pair.from)})`;
  yield findingAtKey(pair, rule, 'body', message, mediaTypeWitness(pair, isWider));
}

const ANY_JSON = 'application/*+json';

/** Returns a function that is true for a type, or a wildcard such as `image/*`, that the list covers completely. */
function covers(types: readonly string[]): (type: string) => boolean {
  const matches = mediaTypeMatcher(types);
  const hasAnyJson = types.includes(ANY_JSON);
  return (type) => matches(type.toLowerCase()) || (hasAnyJson && isJsonType(type));
}

function typesOf({ body }: DiffRoute['entry']): AcceptedTypes {
  if (body === undefined || body.types !== undefined) return body?.types;
  if (body.schema !== undefined) return ['application/json', ANY_JSON];
  const formTypes = [...(body.multipart ? ['multipart/form-data'] : []), ...(body.csv ? ['text/csv'] : [])];
  return formTypes.length === 0 ? undefined : formTypes;
}

function formatTypes({ redactedEntry }: DiffRoute): string {
  return typesOf(redactedEntry)?.join(', ') ?? 'any';
}

export const sizeLimitComparison: Comparison = {
  rules: {
    'limit-raised': ['warning', 'The size limit of a request body or of a login response was raised.'],
    'limit-lowered': ['info', 'The size limit of a request body or of a login response was lowered.'],
  },
  *find(sides) {
    for (const pair of rewrittenRoutes(sides)) {
      yield* changedLimit(pair, 'body');
      yield* changedLimit(pair, 'login');
    }
  },
};

const LIMITED = { body: 'request bodies', login: 'login responses' } as const;

function* changedLimit(pair: MatchedRoutePair, key: keyof typeof LIMITED): Generator<DiffFinding> {
  const [old, next] = [pair.from.entry[key]?.maxBytes, pair.to.entry[key]?.maxBytes];
  // `login-added` and `login-removed` report these.
  if (key === 'login' && (old === undefined || next === undefined)) return;
  const [before, now] = [limitBytes(old), limitBytes(next)];
  if (before === now) return;
  const [rule, change] = now > before ? ['limit-raised', 'higher'] : ['limit-lowered', 'lower'];
  const [wasText, isText] = [pair.from, pair.to].map(
    ({ redactedEntry }) => redactedEntry[key]?.maxBytes ?? 'unlimited',
  );
  const message = `has a ${change} size limit for ${LIMITED[key]}: ${isText} (was ${wasText})`;
  // A login response depends on the upstream, so no request shows its limit.
  yield findingAtKey(pair, rule, key, message, key === 'body' ? limitWitness(pair) : undefined);
}

function limitBytes(limit: string | undefined): number {
  return limit === undefined ? Number.POSITIVE_INFINITY : sizeBytes(limit);
}
