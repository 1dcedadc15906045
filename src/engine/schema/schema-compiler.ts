import { formatPointer, valueAt } from '../json-pointer.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Environment } from '../manifest/source.ts';
import type { SlicedWork } from '../plan/sliced-work.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import type { Secrets } from '../problem/redaction.ts';
import { circularReferenceFindings } from './circular-references.ts';
import { withHiddenKeywords } from './hidden-keywords.ts';
import { ignoredKeywordFindings } from './ignored-keywords.ts';
import { bundleSchemas, redactRoot, type SchemaRoot } from './schema-bundle.ts';
import { schemaFindings, unevaluatedFindings } from './schema-findings.ts';
import { createRecursionCheck } from './schema-recursion.ts';
import {
  isDataKeyword,
  isSchema,
  type LocatedSchema,
  listedValuesAt,
  referencePath,
  schemasWithin,
  targetsIn,
  typesAt,
} from './schema-walk.ts';
import {
  type ContentValidator,
  createSchemaValidators,
  type SchemaCompilations,
  type ValueValidator,
} from './value-validator.ts';

/** Compiles the schemas of one manifest. */
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
 * @param previous the schemas of another plan. Those that requests needed with it are compiled at once: if it is the active
 *   plan, no request waits for them. Equal ones are not checked again
 */
export function* createSchemaCompiler(
  manifest: Manifest,
  readFile: Environment['readFile'],
  secrets: Secrets,
  findings: Finding[],
  previous: SchemaCompilations | undefined,
): SlicedWork<SchemaCompiler> {
  const { root, referencedPaths: fileTargets, relocate } = yield* bundleSchemas(manifest, readFile, findings);
  const markedRoot = withHiddenKeywords(root, secrets);
  const { contentValidatorAt, compilations } = createSchemaValidators(markedRoot);
  const check = createSchemaCheck(root, fileTargets);
  const recursionFindings = createRecursionCheck(root);
  const validContents = new Set<string>();
  const compile = (path: Path): ValueValidator | Finding[] => {
    const schemas = schemasWithin(valueAt(root, path), path);
    const { findings: own, isValid } = check(path, schemas);
    if (!isValid) return [...own];
    const errors = [...unevaluatedFindings(root, schemas), ...recursionFindings(schemas)];
    if (errors.length > 0) return errors;
    const validator = contentValidatorAt(path);
    try {
      if (needsCompilation(validator, schemas)) validator.compile();
      return validator.validate;
    } catch (error) {
      return [errorAt(path, 'body-schema', `this JSON Schema does not compile: ${reasonOf(error)}`)];
    }
  };
  const needsCompilation = ({ content }: ContentValidator, schemas: readonly LocatedSchema[]) =>
    previous?.compiledContents.has(content) === true || !certainlyCompiles(root, schemas);
  const isValid = ({ content }: ContentValidator) => validContents.has(content) || wasValid(content, previous);
  const redactedRoot = redactRoot(root, secrets);
  const compiler: SchemaCompiler = {
    root: markedRoot,
    redactedRoot,
    compilations,
    typesAt: (path) => typesAt(root, path),
    listedValuesAt: (path) => listedValuesAt(redactedRoot, path),
    compile(path, findings) {
      // Nothing refers to the schema of a route, so its content alone decides if it is valid.
      const validator = path[0] === 'routes' ? contentValidatorAt(path) : undefined;
      if (validator !== undefined && isValid(validator)) return validator.validate;
      const compiled = compile(path);
      if (typeof compiled === 'function') {
        if (validator !== undefined) validContents.add(validator.content);
        return compiled;
      }
      for (const finding of compiled) findings.push(relocate(finding));
      return undefined;
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

/**
 * Keywords with values that the findings allow, but which may still not compile. All others compile, if the schemas that they hold
 * do. A reference compiles if its target does.
 */
const UNCERTAIN = new Set([
  ...['$ref', '$schema', '$defs', 'definitions', 'if', 'then', 'else', 'dependentSchemas'],
  ...['minContains', 'maxContains', 'unevaluatedItems', 'unevaluatedProperties'],
]);

/** A larger schema is compiled at once: its first request would wait for too long. */
const MAX_SCHEMAS = 200;

/**
 * Returns true if a schema certainly compiles: it is small, and so common that its keywords prove it. Compiling a schema
 * takes a hundred times as long. Any other schema must be compiled, to see if it does.
 *
 * @param schemas a schema without findings and its subschemas; it refers only to others without findings
 */
function certainlyCompiles(root: SchemaRoot, schemas: readonly LocatedSchema[]): boolean {
  const pending = [schemas];
  const reached = new Set<unknown>();
  let count = 0;
  for (const list of pending) {
    count += list.length;
    if (count > MAX_SCHEMAS) return false;
    for (const { schema } of list)
      for (const keyword of Object.keys(schema)) {
        if (!UNCERTAIN.has(keyword)) continue;
        const reference = keyword === '$ref' ? schema['$ref'] : undefined;
        const target = typeof reference === 'string' ? referencePath(reference) : undefined;
        // Nothing has checked a schema inside of data, such as an example.
        if (target === undefined || target.slice(2).some(isDataKeyword)) return false;
        const referenced = valueAt(root, target);
        if (!isSchema(referenced)) return false;
        if (!reached.has(referenced)) pending.push(schemasWithin(referenced, target));
        reached.add(referenced);
      }
  }
  return true;
}

/**
 * Creates the check of the schemas of a root. Mistakes in shared schemas are found at these schemas alone, not at those
 * that refer to them. The check takes a path, and the schema there with its subschemas.
 *
 * @param fileTargets the schemas in files that references lead to
 */
function createSchemaCheck(root: SchemaRoot, fileTargets: readonly Path[]) {
  let shared: ReturnType<typeof checkShared> | undefined;
  return (path: Path, schemas: readonly LocatedSchema[]) => {
    shared ??= checkShared(root, [...Object.keys(root.schemas).map((name) => ['schemas', name]), ...fileTargets]);
    const { findings, invalid } = shared;
    // A reference to a file without that schema has been reported, and leads to none of the shared schemas.
    const isShared = (target: string) => findings.has(target);
    const pointer = formatPointer(path);
    const own = findings.get(pointer) ?? findingsIn(root, schemas);
    const targets = sharedTargets(schemas);
    const isValid =
      own.length === 0 && !invalid.has(pointer) && targets.every((target) => isShared(target) && !invalid.has(target));
    return { findings: own, isValid };
  };
}

/** Returns the findings in shared schemas by pointer, and the pointers of those that cannot be compiled. */
function checkShared(root: SchemaRoot, paths: readonly Path[]) {
  const circular = circularReferenceFindings(root, paths);
  const findings = new Map<string, readonly Finding[]>();
  const callers = new Map<string, string[]>();
  const invalid = new Set<string>();
  const known = new Set(paths.map(formatPointer));
  for (const path of paths) {
    const pointer = formatPointer(path);
    const schemas = schemasWithin(valueAt(root, path), path);
    const own = [...findingsIn(root, schemas), ...circular.filter(({ location }) => isWithin(location, path))];
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

function isWithin(location: Finding['location'], outer: Path): boolean {
  return 'path' in location && outer.every((step, index) => step === location.path[index]);
}
