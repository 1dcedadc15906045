import { suggestion } from '../../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import { NUMBER_FORMATS, TEXT_FORMATS } from './formats/formats.ts';
import { formErrors } from './keyword-form.ts';
import { validatedType } from './keywords.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { keywordsOf, valueAt } from './schema-walk.ts';

const RULE = 'body-schema';

const UNCHECKED_FORMATS: ReadonlyMap<string, string> = new Map([
  ['byte', '"byte" accepts base64 of several lines; write contentEncoding: base64'],
  ['binary', '"binary" validates nothing; remove it'],
  ['password', '"password" validates nothing; remove it'],
  ['float', '"float" validates nothing; remove it'],
  ['double', '"double" validates nothing; remove it'],
  ['url', '"url" has no grammar in JSON Schema; write uri'],
]);

/** Reports formats that are not supported, and keywords of a schema that would validate nothing. */
export function* ignoredKeywordFindings(root: SchemaRoot, path: Path): Generator<Finding> {
  for (const { schema, key, value, at } of keywordsOf(valueAt(root, path), path)) {
    const format = key === 'format' && typeof value === 'string' ? formatMessage(value) : undefined;
    if (format !== undefined) {
      yield errorAt(at, RULE, format);
      continue;
    }
    if (key === 'contentEncoding' && typeof value === 'string' && value !== 'base64')
      yield errorAt(at, RULE, 'no other content encoding is validated; write base64, or remove it');
    if (key === 'contentMaxBytes') yield* sizeFindings(value, schema, at);
    const isTextFormat = key === 'format' && typeof value === 'string' && !Object.hasOwn(NUMBER_FORMATS, value);
    const isNumberFormat = key === 'format' && !isTextFormat;
    const type = isTextFormat ? 'string' : isNumberFormat ? 'number' : validatedType(key);
    if (type === undefined) continue;
    const names = typesOf(schema);
    const isApplied = names.includes(type) || (type === 'number' && names.includes('integer'));
    if (names.length === 0 || isApplied) continue;
    const fix = `remove it, or add ${type} to "type"`;
    yield errorAtKey(at, RULE, `"${key}" validates nothing if "type" is ${names.join(', ')}; ${fix}`);
  }
}

function formatMessage(format: string): string | undefined {
  if (Object.hasOwn(TEXT_FORMATS, format) || Object.hasOwn(NUMBER_FORMATS, format)) return undefined;
  const formats = [...Object.keys(TEXT_FORMATS), ...Object.keys(NUMBER_FORMATS)];
  return UNCHECKED_FORMATS.get(format) ?? `"${format}" is not a format${suggestion(format, formats)}`;
}

function* sizeFindings(size: unknown, schema: Record<string, unknown>, at: Path): Generator<Finding> {
  if (typeof size !== 'string' || !/^\d{1,9}(?:B|KB|MB|GB)$/.test(size))
    yield errorAt(at, RULE, 'this is not a size; write, for example, 512B, 64KB or 10MB');
  if (schema['contentEncoding'] === undefined)
    yield errorAtKey(at, RULE, '"contentMaxBytes" validates nothing without contentEncoding: base64; add it');
}

/** Returns the types that a schema names itself; none if it has no valid `type`. */
function typesOf({ type }: Record<string, unknown>): readonly string[] {
  return type === undefined || formErrors('type', type).length > 0 ? [] : [type].flat().map(String);
}
