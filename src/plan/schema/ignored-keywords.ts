import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import { INTERNAL_KEYWORDS, validatedType } from './keywords.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { isMap, keywordsOf, valueAt } from './schema-walk.ts';

const RULE = 'body-schema';

const NUMBER_FORMATS = new Set(['int32', 'int64']);

/** Keywords that the validator ignores or checks only in part, with the message for each. */
const UNCHECKED: ReadonlyMap<string, string> = new Map([
  ['contentMediaType', '"contentMediaType" validates nothing; remove it'],
  ['contentSchema', '"contentSchema" validates nothing; remove it'],
  ['$vocabulary', '"$vocabulary" is not supported; remove it'],
  // Such a schema validates asynchronously: every body would already have passed.
  ['$async', '"$async" is not a keyword of JSON Schema; remove it'],
  ...Object.values(INTERNAL_KEYWORDS).map(
    (keyword) => [keyword, `"${keyword}" is not a keyword of JSON Schema; remove it`] as const,
  ),
]);

const UNCHECKED_FORMATS: ReadonlyMap<string, string> = new Map([
  ['byte', '"byte" accepts base64 of several lines; write contentEncoding: base64'],
  ['binary', '"binary" validates nothing; remove it'],
  ['password', '"password" validates nothing; remove it'],
  ['float', '"float" validates nothing; remove it'],
  ['double', '"double" validates nothing; remove it'],
  ['url', 'the time to validate a "url" is quadratic in its length; write uri'],
]);

/** Reports keywords of a schema that would validate nothing, or only in part. */
export function* ignoredKeywordFindings(root: SchemaRoot, path: Path): Generator<Finding> {
  for (const { key, value, at } of keywordsOf(valueAt(root, path), path)) {
    const message = UNCHECKED.get(key);
    if (message !== undefined) yield errorAtKey(at, RULE, message);
    const format = key === 'format' ? UNCHECKED_FORMATS.get(String(value)) : undefined;
    if (format !== undefined) yield errorAt(at, RULE, format);
    if (key === 'contentEncoding' && value !== 'base64')
      yield errorAt(at, RULE, 'no other content encoding is validated; write base64, or remove it');
    if (key === 'contentMaxBytes') yield* sizeFindings(value, valueAt(root, at.slice(0, -1)), at);
    const type = key === 'format' && !NUMBER_FORMATS.has(String(value)) ? 'string' : validatedType(key);
    const types = typesOf(valueAt(root, at.slice(0, -1)));
    if (type === undefined || types.length === 0 || types.includes(type)) continue;
    const fix = `remove it, or add ${type} to "type"`;
    yield errorAtKey(at, RULE, `"${key}" validates nothing if "type" is ${types.join(', ')}; ${fix}`);
  }
}

function* sizeFindings(size: unknown, schema: unknown, at: Path): Generator<Finding> {
  if (typeof size !== 'string' || !/^\d{1,9}(?:B|KB|MB|GB)$/.test(size))
    yield errorAt(at, RULE, 'this is not a size; write, for example, 512B, 64KB or 10MB');
  if (isMap(schema) && schema['contentEncoding'] === undefined)
    yield errorAtKey(at, RULE, '"contentMaxBytes" validates nothing without contentEncoding: base64; add it');
}

/** Returns the types that a schema names itself; none if it has no `type`. */
function typesOf(schema: unknown): readonly string[] {
  const type = isMap(schema) ? schema['type'] : undefined;
  return [type ?? []].flat().map((name) => (name === 'integer' ? 'number' : String(name)));
}
