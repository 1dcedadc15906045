import { isWithin, valueAt } from '../../../engine/json-pointer.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import { keywordsWith } from '../../../engine/schema/keywords.ts';
import { isMap, type LocatedSchema, reachableSchemas, schemasWithin } from '../../../engine/schema/schema-walk.ts';
import { PARAMETER_KINDS, type ParameterKind } from '../../schema-comparison/parameter-texts.ts';
import type { MutationContext, TestedRoute } from '../context.ts';
import { withoutValue, withValue } from '../edits.ts';
import type { Mutators, Probe } from '../mutant.ts';
import { withJsonBody } from '../probes.ts';
import { withParameter } from './parameter-mutators.ts';

export const schemaMutators: Mutators = {
  'schema-loosened': {
    summary: 'a schema accepts more: one keyword is looser or missing',
    *find(context) {
      const { manifest } = context;
      const uses = [...schemaUses(context)];
      for (const root of schemaRoots(context)) {
        const using = uses.filter((use) => isReachable(manifest, use.path, root));
        for (const { schema, at: path } of subschemasOf(manifest, root))
          for (const { steps, value, message } of openingsOf(schema)) {
            const at = [...path, ...steps];
            const changed = value === undefined ? withoutValue(manifest, at) : withValue(manifest, at, value);
            yield {
              path: at,
              message,
              manifest: changed,
              routes: [...new Set(using.map(({ tested }) => tested))],
              *probes(base, route) {
                const own = using.filter(({ tested }) => tested === route);
                if (own.some((use) => use.path.at(-2) === 'body'))
                  yield* bodiesWith(base, instancePath(root, path), context.newValues(path, changed));
                for (const use of own) yield* use.probes(base, changed);
              },
            };
          }
      }
    },
  },
};

/** The schema of a body or of a parameter. */
interface SchemaUse {
  readonly tested: TestedRoute;
  readonly path: Path;
  /** Yields requests that only the changed schema accepts. */
  readonly probes: (base: Probe, changed: MutationContext['manifest']) => Iterable<Probe>;
}

function* schemaUses(context: MutationContext): Generator<SchemaUse> {
  for (const tested of context.routes) {
    const { entry } = tested;
    if (entry.body?.schema !== undefined) {
      const path = [...tested.path, 'body', 'schema'];
      yield {
        tested,
        path,
        probes: (base, changed) => context.newValues(path, changed).map((value) => withJsonBody(base, value)),
      };
    }
    for (const kind of PARAMETER_KINDS)
      for (const name of Object.keys(entry[kind]?.properties ?? {})) yield parameterUse(context, tested, kind, name);
  }
}

function parameterUse(context: MutationContext, tested: TestedRoute, kind: ParameterKind, name: string): SchemaUse {
  const path = [...tested.path, kind, 'properties', name];
  return {
    tested,
    path,
    *probes(base, changed) {
      for (const text of context.newTexts(path, changed)) yield* withParameter(base, tested, kind, name, text);
    },
  };
}

/** Returns the location of the value that a subschema validates, if only members lead to it. */
function instancePath(root: Path, path: Path): readonly string[] | undefined {
  const steps = path.slice(root.length).map(String);
  const isMemberPath = steps.every((step, index) => index % 2 === 1 || step === 'properties');
  return isMemberPath ? steps.filter((_, index) => index % 2 === 1) : undefined;
}

/** Yields the body of the probe with another value at a location. It is shorter than a complete sample of the schema. */
function* bodiesWith(base: Probe, at: readonly string[] | undefined, values: readonly unknown[]): Generator<Probe> {
  const { body } = base.request;
  if (at === undefined || at.length === 0 || !isMap(body)) return;
  if (isMap(valueAt(body, at.slice(0, -1))))
    yield* values.map((value) => withJsonBody(base, withValue(body, at, value)));
}

/** Yields the paths of the schemas as written: in `schemas`, and inside of routes. */
function* schemaRoots(context: MutationContext): Generator<Path> {
  for (const name of Object.keys(context.manifest.schemas)) yield ['schemas', name];
  for (const { path } of schemaUses(context)) yield path;
}

/** Returns a schema and the subschemas where more values mean more requests: not those of conditions. */
function subschemasOf(root: unknown, path: Path): LocatedSchema[] {
  const isOpen = ({ keyword, holder }: LocatedSchema): boolean =>
    (keyword === undefined || !CONDITIONS.has(keyword)) && (holder === undefined || isOpen(holder));
  return schemasWithin(valueAt(root, path), path).filter(isOpen);
}

const CONDITIONS = new Set(keywordsWith({ isCondition: true }));

/** True if the schema at a path is the target, or refers to it. */
function isReachable(root: unknown, path: Path, target: Path): boolean {
  const reached = reachableSchemas(root, path, Number.POSITIVE_INFINITY);
  return reached.some(({ at }) => isWithin(at, target) || isWithin(target, at));
}

type Schema = Readonly<Record<string, unknown>>;

/** A change of one keyword after which the schema accepts more values. */
interface SchemaOpening {
  /** The path of the change inside of the schema. */
  readonly steps: readonly (string | number)[];
  /** The new value; `undefined` removes the old one. */
  readonly value: unknown;
  readonly message: string;
}

/** Returns the openings of a schema, without those of its subschemas. */
function openingsOf(schema: Schema): SchemaOpening[] {
  return Object.keys(schema).flatMap((keyword) => OPENINGS.get(keyword)?.(schema[keyword], keyword) ?? []);
}

type FindOpenings = (value: unknown, keyword: string) => SchemaOpening[];

const remove: FindOpenings = (_value, keyword) => [
  { steps: [keyword], value: undefined, message: `the keyword "${keyword}" is missing` },
];

const lower: FindOpenings = (value, keyword) =>
  typeof value === 'number' && (value > 0 || !COUNTS.has(keyword)) ? [bound(keyword, value, value - 1)] : [];

const raise: FindOpenings = (value, keyword) => (typeof value === 'number' ? [bound(keyword, value, value + 1)] : []);

function bound(keyword: string, from: number, to: number): SchemaOpening {
  return { steps: [keyword], value: to, message: `"${keyword}" is ${to}, not ${from}` };
}

/** Keywords whose bound cannot be negative. */
const COUNTS: ReadonlySet<string> = new Set(['minLength', 'minItems', 'minProperties', 'minContains']);

const openIfFalse: FindOpenings = (value, keyword) =>
  value === true ? [] : [{ steps: [keyword], value: true, message: `"${keyword}" accepts everything` }];

const dropItems: FindOpenings = (value, keyword) =>
  (Array.isArray(value) ? value : []).map((item, index) => ({
    steps: [keyword, index],
    value: undefined,
    message: `"${keyword}" does not contain ${typeof item === 'string' ? `"${item}"` : `item ${index + 1}`}`,
  }));

const openMembers: FindOpenings = (value, keyword) =>
  (isMap(value) ? Object.keys(value) : []).map((name) => ({
    steps: [keyword, name],
    value: true,
    message: `the member "${name}" may have every value`,
  }));

const openType: FindOpenings = (value, keyword) => {
  const types = [value].flat();
  const widened = [
    types.includes('integer')
      ? types.map((type) => (type === 'integer' ? 'number' : type))
      : [...types, types.includes('string') ? 'number' : 'string'],
    ...(types.includes('null') ? [] : [[...types, 'null']]),
  ];
  return widened.map((wider) => ({
    steps: [keyword],
    value: wider.length === 1 ? wider[0] : wider,
    message: `"type" is ${wider.join(' or ')}`,
  }));
};

const extendEnum: FindOpenings = (value, keyword) =>
  Array.isArray(value)
    ? [{ steps: [keyword], value: [...value, otherValue(value)], message: `"${keyword}" has one more value` }]
    : [];

function otherValue(values: readonly unknown[]): unknown {
  if (values.every((value) => typeof value === 'number')) return Math.max(...(values as number[])) + 1;
  let text = 'other';
  while (values.includes(text)) text += '_';
  return text;
}

/** How keywords of JSON Schema become looser. Keywords without a row never refuse a value by themselves. */
const ROWS: readonly (readonly [FindOpenings, string])[] = [
  [lower, 'minLength minItems minProperties minimum exclusiveMinimum minContains'],
  [raise, 'maxLength maxItems maxProperties maximum exclusiveMaximum maxContains contentMaxBytes'],
  [remove, 'pattern format const uniqueItems multipleOf contains not oneOf anyOf $ref propertyNames'],
  [remove, 'dependentRequired dependentSchemas contentEncoding contentSchema'],
  [openIfFalse, 'then else additionalProperties unevaluatedProperties items unevaluatedItems'],
  [openMembers, 'properties patternProperties'],
  [dropItems, 'required allOf'],
  [extendEnum, 'enum'],
  [openType, 'type'],
];

const OPENINGS = new Map(
  ROWS.flatMap(([open, keywords]) => keywords.split(' ').map((keyword) => [keyword, open] as const)),
);
