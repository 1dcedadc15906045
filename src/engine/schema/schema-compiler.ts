import { formatPointer, isWithin, valueAt } from '../json-pointer.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Environment } from '../manifest/source.ts';
import { runToEnd, type SlicedWork } from '../plan/sliced-work.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { circularReferenceFindings } from './circular-references.ts';
import { withHiddenKeywords } from './hidden-keywords.ts';
import { ignoredKeywordFindings } from './ignored-keywords.ts';
import { bundleSchemas } from './schema-bundle.ts';
import { schemaFindings, unevaluatedFindings } from './schema-findings.ts';
import { createRecursionCheck } from './schema-recursion.ts';
import {
  isDataKeyword,
  isSchema,
  type LocatedSchema,
  listedValuesAt,
  reachableSchemas,
  referencePath,
  type SchemaRoot,
  schemasWithin,
  targetsIn,
  typesAt,
} from './schema-walk.ts';
import { createSchemaValidators, type SchemaCompilations, type ValueValidator } from './value-validator.ts';

/** A larger schema would hold a thread for seconds when it is compiled. */
const MAX_SCHEMAS = 2_000;
/** A larger schema is compiled only in the validation threads: compiling it would delay all requests. */
const MAX_SERVED_SCHEMAS = 100;

export interface SchemaCompiler {
  /** Compiles the schema at a path of the manifest. Adds findings to `findings` and returns `undefined` if it is invalid. */
  compile(path: Path, findings: Finding[]): ValueValidator | undefined;
  typesAt(path: Path): ReadonlySet<string>;
  /** Returns the texts of the values that `enum` and `const` of the schema at a path list, except those from the environment. */
  listedValuesAt(path: Path): ReadonlySet<string>;
  /** The schemas without values from the environment. */
  readonly redactedRoot: SchemaRoot;
  /** The schemas, for the worker threads that compile them too. */
  readonly root: SchemaRoot;
  readonly compilations: SchemaCompilations;
}

/**
 * Creates the compiler of a manifest's JSON Schemas and of the files that they refer to. `$ref: '#/schemas/Name'` refers
 * to the manifest itself. Findings about files go to `findings` at once.
 *
 * @param previous the schemas of another plan; equal ones are not checked again
 * @param isChecked true if another thread has checked the same schemas: then no check holds this one
 */
export function* createSchemaCompiler(
  manifest: Manifest,
  readFile: Environment['readFile'],
  secrets: Secrets,
  findings: Finding[],
  previous: SchemaCompilations | undefined,
  isChecked: boolean,
): SlicedWork<SchemaCompiler> {
  const { root, referencedPaths: fileTargets, relocate } = yield* bundleSchemas(manifest, readFile, findings);
  const markedRoot = withHiddenKeywords(root, secrets);
  const { contentValidatorAt, compilations } = createSchemaValidators(markedRoot, MAX_SERVED_SCHEMAS);
  const names = Object.keys(root.schemas).map((name) => ['schemas', name]);
  const shared = checkShared(root, isChecked ? [] : [...names, ...fileTargets]);
  const recursionFindings = createRecursionCheck(root);
  const validContents = new Set<string>();
  /** Returns the mistakes at a path; `undefined` if they are elsewhere. */
  const errorsAt = (path: Path): readonly Finding[] | undefined => {
    const reached = reachableSchemas(root, path, MAX_SCHEMAS);
    if (reached.length > MAX_SCHEMAS) return [errorAt(path, 'body-schema', TOO_LARGE)];
    const schemas = schemasWithin(valueAt(root, path), path);
    const pointer = formatPointer(path);
    const own = shared.findings.get(pointer) ?? findingsIn(root, schemas);
    if (own.length > 0) return own;
    // A reference to a file without that schema has been reported, and leads to none of the shared schemas.
    const isInvalid = (target: string) => shared.invalid.has(target) || !shared.findings.has(target);
    if (shared.invalid.has(pointer) || sharedTargets(schemas).some(isInvalid)) return undefined;
    const errors = [...unevaluatedFindings(root, schemas), ...recursionFindings(schemas)];
    if (errors.length > 0 || certainlyCompiles(root, reached)) return errors;
    try {
      runToEnd(contentValidatorAt(path).compile());
      return [];
    } catch (error) {
      return [errorAt(path, 'body-schema', `this JSON Schema does not compile: ${reasonOf(error)}`)];
    }
  };
  const redactedRoot = secrets.redactValue(root, []);
  const compiler: SchemaCompiler = {
    root: markedRoot,
    redactedRoot,
    compilations,
    typesAt: (path) => typesAt(root, path),
    listedValuesAt: (path) => listedValuesAt(redactedRoot, path),
    compile(path, findings) {
      const { content, validate } = contentValidatorAt(path);
      // Nothing refers to the schema of a route, so its content alone decides if it is valid.
      const isKnown = path[0] === 'routes' && (validContents.has(content) || wasValid(content, previous));
      if (isChecked || isKnown) return validate;
      const errors = errorsAt(path);
      for (const error of errors ?? []) findings.push(relocate(error));
      if (errors?.length !== 0) return undefined;
      validContents.add(content);
      return validate;
    },
  };
  for (const target of fileTargets) {
    compiler.compile(target, findings);
    yield;
  }
  return compiler;
}

/** True if a plan has a schema with this content, which it has not compiled. References may lead elsewhere in that plan. */
function wasValid(content: string, plan: SchemaCompilations | undefined): boolean {
  return plan?.hasContent(content) === true && !plan.compiledContents.has(content) && !content.includes('"$ref"');
}

function reasonOf(error: unknown): string {
  // The generated code, or the code that generates it, overflowed the stack.
  if (error instanceof RangeError)
    return 'it is too large, or its schemas are nested too deeply; write fewer keywords, or move parts of it to "schemas"';
  return error instanceof Error ? error.message.replace(/^strict mode: /, '') : String(error);
}

/** Keywords with values that the findings allow, but which may still not compile. All others compile if their subschemas do. */
const UNCERTAIN = new Set([
  ...['$ref', '$schema', '$defs', 'definitions', 'if', 'then', 'else', 'dependentSchemas'],
  ...['minContains', 'maxContains', 'unevaluatedItems', 'unevaluatedProperties', 'dependentRequired'],
]);

/** True if a schema, with all that it leads to, certainly compiles: it is small and common. Compiling takes a hundred times as long. */
function certainlyCompiles(root: SchemaRoot, schemas: readonly LocatedSchema[]): boolean {
  const isCertain = (keyword: string, value: unknown) => {
    if (!UNCERTAIN.has(keyword)) return true;
    const target = keyword === '$ref' && typeof value === 'string' ? referencePath(value) : undefined;
    // Nothing has checked a schema inside of data, such as an example.
    return target !== undefined && !target.slice(2).some(isDataKeyword) && isSchema(valueAt(root, target));
  };
  return (
    schemas.length <= MAX_SERVED_SCHEMAS &&
    schemas.every(({ schema }) => Object.entries(schema).every(([keyword, value]) => isCertain(keyword, value)))
  );
}

const TOO_LARGE = `this schema has more than ${MAX_SCHEMAS} subschemas, with those of the schemas that it refers to; remove some, or accept any value for a part of it`;

/**
 * Returns the findings in shared schemas by pointer, and the pointers of those that cannot be compiled: mistakes are found there, not at
 * schemas that refer to them.
 */
function checkShared(root: SchemaRoot, paths: readonly Path[]) {
  const circular = circularReferenceFindings(root, paths);
  const findings = new Map<string, readonly Finding[]>();
  const callers = new Map<string, string[]>();
  const invalid = new Set<string>();
  const known = new Set(paths.map(formatPointer));
  for (const path of paths) {
    const pointer = formatPointer(path);
    const schemas = schemasWithin(valueAt(root, path), path);
    const own = [
      ...findingsIn(root, schemas),
      ...circular.filter(({ location }) => 'path' in location && isWithin(location.path, path)),
    ];
    findings.set(pointer, own);
    // The check of the manifest, or of its files, has reported a value that is no schema.
    if (own.length > 0 || !isSchema(valueAt(root, path))) invalid.add(pointer);
    const targets = sharedTargets(schemas);
    if (targets.some((target) => !known.has(target))) invalid.add(pointer);
    for (const target of targets) callers.set(target, [...(callers.get(target) ?? []), pointer]);
  }
  // Entries that are added during the loop are visited too.
  for (const pointer of invalid) for (const caller of callers.get(pointer) ?? []) invalid.add(caller);
  return { findings, invalid };
}

function findingsIn(root: SchemaRoot, schemas: readonly LocatedSchema[]): readonly Finding[] {
  return [...schemaFindings(root, schemas), ...ignoredKeywordFindings(schemas)];
}

/** Returns the pointers of the shared schemas that schemas refer to. A target in a file stands for itself. */
function sharedTargets(schemas: readonly LocatedSchema[]): string[] {
  return targetsIn(schemas).map((target) => formatPointer(target[0] === 'schemas' ? target.slice(0, 2) : target));
}
