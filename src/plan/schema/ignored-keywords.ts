import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import { INTERNAL_KEYWORDS, validatedType } from './keywords.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { isMap, keywordsOf, valueAt } from './schema-walk.ts';

const RULE = 'body-schema';

const NUMBER_FORMATS = new Set(['int32', 'int64']);

/** What the validator takes for a remark, or checks by halves. */
const UNCHECKED: ReadonlyMap<string, string> = new Map([
  ['contentMediaType', 'nothing is checked by "contentMediaType"; remove it'],
  ['contentSchema', 'nothing is checked by "contentSchema"; remove it'],
  ['$vocabulary', '"$vocabulary" has no place here; remove it'],
  // Such a schema answers later: every body would have passed by then.
  ['$async', '"$async" is not a keyword of JSON Schema; remove it'],
  ...Object.values(INTERNAL_KEYWORDS).map(
    (keyword) => [keyword, `"${keyword}" is not a keyword of JSON Schema; remove it`] as const,
  ),
]);

const UNCHECKED_FORMATS: ReadonlyMap<string, string> = new Map([
  ['byte', 'base64 of several lines passes "byte"; write contentEncoding: base64'],
  ['binary', 'nothing is checked by "binary"; remove it'],
  ['password', 'nothing is checked by "password"; remove it'],
  ['float', 'nothing is checked by "float"; remove it'],
  ['double', 'nothing is checked by "double"; remove it'],
  ['url', 'the time to check a "url" grows with the square of its length; write uri'],
]);

/** Tells of what stands in a schema and would judge nothing, or by halves. */
export function* ignoredKeywordFindings(root: SchemaRoot, path: Path): Generator<Finding> {
  for (const { key, value, at } of keywordsOf(valueAt(root, path), path)) {
    const message = UNCHECKED.get(key);
    if (message !== undefined) yield errorAtKey(at, RULE, message);
    const format = key === 'format' ? UNCHECKED_FORMATS.get(String(value)) : undefined;
    if (format !== undefined) yield errorAt(at, RULE, format);
    if (key === 'contentEncoding' && value !== 'base64')
      yield errorAt(at, RULE, 'no other content encoding is checked here; write base64, or remove it');
    if (key === 'contentMaxBytes') yield* sizeFindings(value, valueAt(root, at.slice(0, -1)), at);
    const judged = key === 'format' && !NUMBER_FORMATS.has(String(value)) ? 'string' : validatedType(key);
    const types = typesOf(valueAt(root, at.slice(0, -1)));
    if (judged === undefined || types.length === 0 || types.includes(judged)) continue;
    const advice = `remove it, or add ${judged} to "type"`;
    yield errorAtKey(at, RULE, `"${key}" judges nothing where "type" is ${types.join(', ')}; ${advice}`);
  }
}

function* sizeFindings(size: unknown, schema: unknown, at: Path): Generator<Finding> {
  if (typeof size !== 'string' || !/^\d{1,9}(?:B|KB|MB|GB)$/.test(size))
    yield errorAt(at, RULE, 'this is not a size; write for example 512B or 64KB or 10MB');
  if (isMap(schema) && schema['contentEncoding'] === undefined)
    yield errorAtKey(at, RULE, '"contentMaxBytes" judges nothing without contentEncoding: base64; add it');
}

/** The types that a schema itself allows; none when it does not say. */
function typesOf(schema: unknown): readonly string[] {
  const type = isMap(schema) ? schema['type'] : undefined;
  return [type ?? []].flat().map((name) => (name === 'integer' ? 'number' : String(name)));
}
