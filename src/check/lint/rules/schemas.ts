import { suggestion } from '../../../engine/problem/did-you-mean.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import type { Schema, SchemaNode } from '../lint-context.ts';
import { findingAt, rulesOf } from '../rule.ts';

/** Keywords by which other schemas, or a list of values, may limit what a schema accepts. */
const BRANCHES = ['allOf', 'anyOf', 'oneOf', '$ref'];
const LIMITS_ELSEWHERE = ['enum', 'const', ...BRANCHES];

/** Rules for schemas that accept more than their authors usually intend, or that contradict themselves. */
export const SCHEMA_RULES = rulesOf('validation', {
  'array-items-open': {
    level: ['info', 'strict'],
    rationale: 'Without "items" the gateway validates the list but none of its items.',
    schema: (node) =>
      lacksAll(['items', 'prefixItems', ...LIMITS_ELSEWHERE], 'array', node) &&
      'this schema accepts any items; add items: with their schema',
  },
  'array-unbounded': {
    level: ['info', 'recommended'],
    rationale:
      'A small body can hold a very large number of items, and the upstream may send a mail or query a database for each.',
    schema: (node) =>
      lacksAll(['maxItems', ...LIMITS_ELSEWHERE], 'array', node) &&
      'this list has no limit on the number of items; add maxItems:',
  },
  'pattern-unanchored': {
    level: ['warning', 'recommended'],
    rationale:
      'A pattern may match anywhere in a text, so without ^ and $ it also accepts arbitrary text before and after the match.',
    at: ['pattern'],
    schema: ({ schema: { pattern }, isCondition }) =>
      !isCondition && typeof pattern === 'string' && unanchoredReason(pattern),
  },
  'schema-open': {
    level: ['info', 'recommended'],
    rationale:
      'The gateway forwards members that the schema does not list without validation, for example "is_admin" to a framework that assigns every member it receives.',
    schema: (node) =>
      isMap(node.schema['properties']) &&
      lacksAll(['additionalProperties', 'unevaluatedProperties', ...BRANCHES], 'object', node) &&
      'unlisted members pass without validation; add additionalProperties: false, or true if that is intended',
  },
  'schema-type-missing': {
    level: ['warning', 'recommended'],
    rationale:
      'A keyword applies only to values of its own type: { maxLength: 5 } accepts every number, list and object.',
    schema: (node) => {
      const keyword = Object.keys(node.schema).find((name) => Object.hasOwn(TYPES, name)) ?? '';
      const type = TYPES[keyword];
      const isOpen = !PARAMETERS.has(node.path[2]) && lacksAll(['type', ...LIMITS_ELSEWHERE], undefined, node);
      const message = `"${keyword}" applies only to type ${type}, so this schema accepts every other type`;
      return type !== undefined && isOpen && `${message}; add type: ${type}`;
    },
  },
  'string-unbounded': {
    level: ['info', 'recommended'],
    rationale:
      'Only the size limit of the body bounds this string: a name of a megabyte may reach a database column, a log line or a mail of the upstream.',
    schema: (node) =>
      // The size limit of the request head bounds parameters.
      !PARAMETERS.has(node.path[2]) &&
      !isShort(node.schema) &&
      lacksAll(['maxLength', 'contentMaxBytes', ...LIMITS_ELSEWHERE], 'string', node) &&
      'this string may be as long as the body; add maxLength:',
  },
  'schema-enum-type': {
    level: ['warning', 'minimal'],
    rationale: 'A value whose type is not in "type" can never match; in YAML it usually lacks quotes.',
    *find({ schemas }) {
      for (const { schema, path } of schemas) {
        if (!Object.hasOwn(schema, 'enum') && !Object.hasOwn(schema, 'const')) continue;
        const types = [schema['type']].flat().filter((type) => typeof type === 'string');
        if (types.length === 0) continue;
        for (const { value, steps } of enumValues(schema)) {
          if (types.some((type) => hasType(value, type))) continue;
          const remedy = types.includes('string') && value !== null ? 'quote it' : 'correct it, or remove it';
          yield findingAt(
            [...path, ...steps],
            `${JSON.stringify(value)} is not of type ${types.join(' or ')}, so it can never match; ${remedy}`,
          );
        }
      }
    },
  },
  'schema-impossible': {
    level: ['warning', 'minimal'],
    rationale: 'No value is valid, so the gateway refuses every request that contains one.',
    *find({ schemas }) {
      for (const { schema, path, isCondition } of schemas)
        for (const { low, high } of BOUNDS) {
          const lower = schema[low];
          const upper = schema[high];
          if (isCondition || typeof lower !== 'number' || typeof upper !== 'number' || lower <= upper) continue;
          const message = `no value satisfies ${low} ${lower} and ${high} ${upper}; swap the two, or correct one`;
          yield findingAt([...path, low], message, {
            related: { path: [...path, high], message: 'the other bound' },
          });
        }
    },
  },
  'schema-required-unknown': {
    level: ['warning', 'minimal'],
    rationale:
      'A required member that the schema does not describe is usually misspelled: the gateway refuses every valid body, or does not validate the intended member.',
    *find({ schemas }) {
      for (const { schema, path, isInPlace, isCondition } of schemas) {
        const { properties, required, patternProperties } = schema;
        if (isInPlace || isCondition || patternProperties !== undefined) continue;
        if (!isMap(properties) || !Array.isArray(required)) continue;
        const names = Object.keys(properties);
        for (const [index, name] of required.entries())
          if (!names.includes(name))
            yield findingAt(
              [...path, 'required', index],
              `"${name}" is required but missing from "properties"${suggestion(name, names)}`,
            );
      }
    },
  },
});

/** The keys of a route with the schemas of parameters. */
const PARAMETERS: ReadonlySet<unknown> = new Set(['params', 'query', 'headers']);

/** True for a schema of a type that has none of the keywords and stands alone: another one may have them for the same value. */
function lacksAll(keywords: readonly string[], type: string | undefined, { schema, isInPlace }: SchemaNode): boolean {
  const isOfType = type === undefined || [schema['type']].flat().includes(type);
  return !isInPlace && isOfType && !keywords.some((keyword) => Object.hasOwn(schema, keyword));
}

const SHORT_FORMATS = new Set([
  ...['date', 'time', 'date-time', 'iso-time', 'iso-date-time', 'uuid', 'ipv4', 'ipv6'],
  ...['email', 'idn-email', 'hostname', 'idn-hostname'],
]);

/** True if a format, or an anchored pattern without unbounded repetition, limits the length. */
function isShort({ format, pattern }: Schema): boolean {
  const isFixed = typeof pattern === 'string' && /^\^.*\$$/s.test(pattern) && !/[*+|]|,\}/.test(pattern);
  return isFixed || (typeof format === 'string' && SHORT_FORMATS.has(format));
}

function unanchoredReason(pattern: string): string | undefined {
  const starts = /^(?:\(\?i\))?\^/.test(pattern);
  const ends = /(?:^|[^\\])(?:\\\\)*\$$/.test(pattern);
  if (!starts && !ends) return 'this pattern accepts any text that contains a match; start it with ^ and end it with $';
  if (!starts) return 'this pattern accepts any text before the match; start it with ^';
  if (!ends) return 'this pattern accepts any text after the match; end it with $';
  if (hasBranches(pattern)) return '^ applies only to the first branch, and $ only to the last; write ^(?:…|…)$';
  return undefined;
}

/** True if the pattern contains a `|` outside of all brackets. */
function hasBranches(pattern: string): boolean {
  const simplified = pattern.replaceAll(/\\[\s\S]/g, '').replaceAll(/\[\^?\]?[^\]]*\]/g, '');
  let depth = 0;
  for (const character of simplified) {
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === '|' && depth === 0) return true;
  }
  return false;
}

/** The types of values that keywords apply to, in schemas of authors who forget the type. */
const TYPES: Readonly<Record<string, string>> = {
  ...{ maxLength: 'string', minLength: 'string', pattern: 'string', format: 'string' },
  ...{
    maximum: 'number',
    minimum: 'number',
    exclusiveMaximum: 'number',
    exclusiveMinimum: 'number',
    multipleOf: 'number',
  },
  ...{ maxItems: 'array', minItems: 'array', uniqueItems: 'array', items: 'array', prefixItems: 'array' },
  ...{ properties: 'object', required: 'object', additionalProperties: 'object', patternProperties: 'object' },
};

function* enumValues(schema: Schema): Generator<{ value: unknown; steps: (string | number)[] }> {
  const { enum: values } = schema;
  if (Array.isArray(values)) for (const [index, value] of values.entries()) yield { value, steps: ['enum', index] };
  if (Object.hasOwn(schema, 'const')) yield { value: schema['const'], steps: ['const'] };
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return value !== null && typeof value === 'object' && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}

const BOUNDS = [
  { low: 'minLength', high: 'maxLength' },
  { low: 'minimum', high: 'maximum' },
  { low: 'minItems', high: 'maxItems' },
  { low: 'minProperties', high: 'maxProperties' },
];
