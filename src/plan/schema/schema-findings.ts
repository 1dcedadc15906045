import { formatPointer } from '../../json-pointer.ts';
import { suggestion } from '../../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import { checkPattern } from './ajv-validator.ts';
import type { SchemaRoot } from './schema-bundle.ts';
import { inPlaceSchemasOf, isMap, isSchema, keywordsOf, referencePath, valueAt } from './schema-walk.ts';

const RULE = 'body-schema';
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
/** Keywords that give a schema a second name, or refer by one. */
const ALIAS_KEYWORDS = new Set([
  '$anchor',
  '$dynamicAnchor',
  '$dynamicRef',
  '$id',
  '$recursiveAnchor',
  '$recursiveRef',
]);

/** Finds mistakes in the schema at a path that ajv reports without a location, or not at all. */
export function* schemaFindings(root: SchemaRoot, path: Path): Generator<Finding> {
  for (const { key, value, at } of keywordsOf(valueAt(root, path), path)) {
    if (key === 'patternProperties' && isMap(value))
      for (const name of Object.keys(value)) yield* patternFindings(root, name, [...at, name], errorAtKey);
    if (key === 'errorMessage' && typeof value !== 'string')
      yield errorAt(at, RULE, 'this is not a string; write a message for clients');
    if (typeof value !== 'string') continue;
    if (key === 'pattern') yield* patternFindings(root, value, at, errorAt);
    if (key === '$ref') yield* referenceFindings(root, value, at);
    if (key === '$schema' && value !== DIALECT)
      yield errorAt(at, RULE, `this dialect is not supported; write ${DIALECT}, or remove "$schema"`);
    if (ALIAS_KEYWORDS.has(key))
      yield errorAtKey(
        at,
        RULE,
        `"${key}" is not supported; remove it, and refer to a schema as #/schemas/ and its name`,
      );
  }
}

/** The valid patterns of each root: thousands of schemas may have the same one, and checking it takes time. */
const validPatterns = new WeakMap<SchemaRoot, Set<string>>();

function* patternFindings(root: SchemaRoot, pattern: string, path: Path, error: typeof errorAt): Generator<Finding> {
  const valid = validPatterns.get(root) ?? new Set();
  validPatterns.set(root, valid);
  if (valid.has(pattern)) return;
  try {
    checkPattern(pattern);
    valid.add(pattern);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : String(cause);
    yield isRegExp(pattern)
      ? error(
          path,
          RULE,
          `this pattern cannot run in linear time (${reason}); write it without look-around and back-references`,
        )
      : error(
          path,
          RULE,
          `this is not a regular expression (${reason}); correct it, or put a backslash before special characters`,
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
  // References to files are checked when the files are read.
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
 * Finds schemas that refer to themselves for the same value, directly or through others: their validation would never
 * end. A cycle through several schemas is reported once: its schemas are added to `reported`.
 */
export function* circularReferenceFindings(root: SchemaRoot, path: Path, reported: Set<string>): Generator<Finding> {
  for (const { key, value, at } of keywordsOf(valueAt(root, path), path)) {
    const target = key === '$ref' && typeof value === 'string' ? referencePath(value) : undefined;
    if (target === undefined) continue;
    const pointer = formatPointer(at.slice(0, -1));
    const reached = new Set<string>();
    followInPlace(root, target, reached);
    if (!reached.has(pointer) || reported.has(pointer)) continue;
    for (const reachedPointer of reached) reported.add(reachedPointer);
    yield errorAt(
      at,
      RULE,
      `this refers back to itself without end; refer to the schema of a member instead, such as one in "properties"`,
    );
  }
}

function followInPlace(root: SchemaRoot, path: Path, reached: Set<string>): void {
  const pointer = formatPointer(path);
  if (!isMap(valueAt(root, path)) || reached.has(pointer)) return;
  reached.add(pointer);
  for (const { path: at } of inPlaceSchemasOf(root, path)) followInPlace(root, at, reached);
}
