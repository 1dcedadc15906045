import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import { formErrors } from './keyword-form.ts';
import { validatedType } from './keywords.ts';
import { NUMBER_FORMATS, TEXT_FORMATS } from './own-keywords.ts';
import type { LocatedSchema } from './schema-walk.ts';

const RULE = 'body-schema';

const UNCHECKED_FORMATS: ReadonlyMap<string, string> = new Map([
  ['byte', '"byte" accepts base64 of several lines; write contentEncoding: base64'],
  ['url', '"url" has no grammar in JSON Schema; write uri'],
  ...['binary', 'password', 'float', 'double'].map((name) => [name, `"${name}" validates nothing; remove it`] as const),
]);

/** Returns findings about formats that are not supported, and keywords of schemas that would validate nothing. */
export function ignoredKeywordFindings(schemas: readonly LocatedSchema[]): Finding[] {
  const findings: Finding[] = [];
  for (const { schema, at } of schemas) {
    const types = typesOf(schema);
    for (const key of Object.keys(schema)) {
      if (key === 'format') findings.push(...formatFindings(schema[key], types, [...at, key]));
      else {
        if (key.startsWith('content')) findings.push(...contentFindings(key, schema, [...at, key]));
        const type = validatedType(key);
        if (type !== undefined && !isApplied(type, types))
          findings.push(unappliedFinding(key, type, types, [...at, key]));
      }
    }
  }
  return findings;
}

function formatFindings(format: unknown, types: readonly string[], at: Path): Finding[] {
  // A format that is not a string is reported as such. It applies to no type.
  if (typeof format !== 'string') return [];
  const message = formatMessage(format);
  if (message !== undefined) return [errorAt(at, RULE, message)];
  const type = Object.hasOwn(NUMBER_FORMATS, format) ? 'number' : 'string';
  return isApplied(type, types) ? [] : [unappliedFinding('format', type, types, at)];
}

/** @param types the types that a schema names; without any, each keyword may apply */
function isApplied(type: string, types: readonly string[]): boolean {
  return types.length === 0 || types.includes(type) || (type === 'number' && types.includes('integer'));
}

function unappliedFinding(keyword: string, type: string, types: readonly string[], at: Path): Finding {
  const fix = `remove it, or add ${type} to "type"`;
  return errorAtKey(at, RULE, `"${keyword}" validates nothing if "type" is ${types.join(', ')}; ${fix}`);
}

function* contentFindings(key: string, schema: Record<string, unknown>, at: Path): Generator<Finding> {
  const value = schema[key];
  if (key === 'contentEncoding' && typeof value === 'string' && value !== 'base64')
    yield errorAt(at, RULE, 'no other content encoding is validated; write base64, or remove it');
  if (key === 'contentMaxBytes') yield* sizeFindings(value, schema, at);
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

const NONE: readonly string[] = [];

/** Returns the types that a schema names itself; none if it has no valid `type`. */
function typesOf({ type }: Record<string, unknown>): readonly string[] {
  if (type === undefined || formErrors('type', type).length > 0) return NONE;
  return typeof type === 'string' ? [type] : (type as readonly string[]);
}
