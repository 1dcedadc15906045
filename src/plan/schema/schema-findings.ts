import { formatPointer } from '../../json-pointer.ts';
import { suggestion } from '../../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import { checkPattern } from './ajv-validator.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { inPlaceSchemasOf, isMap, isSchema, keywordsOf, referencePath, valueAt } from './schema-walk.ts';

const RULE = 'body-schema';
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** They give a schema a second name, or refer by one. */
const OTHER_NAMES = new Set(['$anchor', '$dynamicAnchor', '$dynamicRef', '$id', '$recursiveAnchor', '$recursiveRef']);

/** What ajv would tell of without a place, or not at all: for one schema, at its path. */
export function* schemaFindings(root: SchemaRoot, path: Path): Generator<Finding> {
  for (const { key, value, at } of keywordsOf(valueAt(root, path), path)) {
    if (key === 'patternProperties' && isMap(value))
      for (const name of Object.keys(value)) yield* patternFindings(name, [...at, name], errorAtKey);
    if (key === 'errorMessage' && typeof value !== 'string')
      yield errorAt(at, RULE, 'this is no text; write what a client is to be told');
    if (typeof value !== 'string') continue;
    if (key === 'pattern') yield* patternFindings(value, at, errorAt);
    if (key === '$ref') yield* referenceFindings(root, value, at);
    if (key === '$schema' && value !== DIALECT)
      yield errorAt(at, RULE, `this dialect is not known here; write ${DIALECT}, or leave "$schema" out`);
    if (OTHER_NAMES.has(key))
      yield errorAtKey(
        at,
        RULE,
        `"${key}" has no place here; remove it, and refer to a schema as #/schemas/ and its name`,
      );
  }
}

function* patternFindings(pattern: string, path: Path, error: typeof errorAt): Generator<Finding> {
  try {
    checkPattern(pattern);
  } catch (fault) {
    const reason = fault instanceof Error ? fault.message.replace(/^error parsing regexp: /, '') : String(fault);
    yield isRegExp(pattern)
      ? error(
          path,
          RULE,
          `this pattern cannot run in linear time (${reason}); write it without look-around and back-references`,
        )
      : error(
          path,
          RULE,
          `this is no regular expression (${reason}); correct it, or put a backslash before what stands for itself`,
        );
  }
}

function isRegExp(pattern: string): boolean {
  try {
    return new RegExp(pattern) instanceof RegExp;
  } catch {
    return false;
  }
}

function* referenceFindings(root: SchemaRoot, reference: string, path: Path): Generator<Finding> {
  const [first, name, ...rest] = referencePath(reference) ?? [];
  // What there is of the files was looked at when they were read.
  if (first === 'files') return;
  if (first !== 'schemas' || name === undefined)
    yield errorAt(
      path,
      RULE,
      `"${reference}" refers to something outside of "schemas"; write #/schemas/ and a name, or the relative path of a file`,
    );
  else if (!Object.hasOwn(root.schemas, name))
    yield errorAt(path, RULE, `no schema is named "${name}"${suggestion(name, Object.keys(root.schemas))}`);
  else if (isSchema(valueAt(root, [first, name])) && !isSchema(valueAt(root, [first, name, ...rest])))
    yield errorAt(
      path,
      RULE,
      `the schema "${name}" has nothing at "${reference}"; write #/schemas/ and a name, or a path to a schema inside of it`,
    );
}

/**
 * Tells of a schema that refers to itself for the very same value, directly or through others: judging a body
 * by it would never end. A circle through several schemas is told once; its places are added to `told`.
 */
export function* circularReferenceFindings(root: SchemaRoot, path: Path, told: Set<string>): Generator<Finding> {
  for (const { key, value, at } of keywordsOf(valueAt(root, path), path)) {
    const target = key === '$ref' && typeof value === 'string' ? referencePath(value) : undefined;
    if (target === undefined) continue;
    const here = formatPointer(at.slice(0, -1));
    const reached = new Set<string>();
    followInPlace(root, target, reached);
    if (!reached.has(here) || told.has(here)) continue;
    for (const place of reached) told.add(place);
    yield errorAt(
      at,
      RULE,
      `this refers back to where it stands, without end; let it refer to a schema of a member, such as one in "properties"`,
    );
  }
}

function followInPlace(root: SchemaRoot, path: Path, reached: Set<string>): void {
  const place = formatPointer(path);
  if (!isMap(valueAt(root, path)) || reached.has(place)) return;
  reached.add(place);
  for (const { path: at } of inPlaceSchemasOf(root, path)) followInPlace(root, at, reached);
}
