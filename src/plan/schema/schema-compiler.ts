import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Manifest } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { didYouMean, suggestion } from '../../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import type { SlicedWork } from '../sliced-work.ts';
import type { AjvValidator } from './ajv-validator.ts';
import { certainlyCompiles } from './compile-proof.ts';
import { withHiddenKeywords } from './hidden-keywords.ts';
import { ignoredKeywordFindings } from './ignored-keywords.ts';
import { bundleSchemasSliced, type SchemaRoot } from './schema-bundle.ts';
import { circularReferenceFindings, schemaFindings } from './schema-findings.ts';
import { createRecursionCheck } from './schema-recursion.ts';
import { keywordsOf, typesAt, valueAt } from './schema-walk.ts';
import { unevaluatedFindings } from './unevaluated-findings.ts';
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
  /** Returns the JSON types that the schema at a path names, itself or through references. */
  typesAt(path: Path): ReadonlySet<string>;
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
 * @param neededContents the schemas that requests needed with the active plan: they are compiled before the new plan is active,
 *   so no request waits for them
 */
export function* createSchemaCompiler(
  manifest: Manifest,
  readFile: Environment['readFile'],
  secrets: Secrets,
  findings: Finding[],
  neededContents: ReadonlySet<string>,
): SlicedWork<SchemaCompiler> {
  const initialCount = findings.length;
  const { root, referencedPaths, relocate } = yield* bundleSchemasSliced(manifest, readFile, findings);
  const markedRoot = withHiddenKeywords(root, secrets);
  const { contentValidatorAt, compilations, ajv } = createSchemaValidators(markedRoot);
  const formats = new Set(ajv.formats);
  const reportedCycles = new Set<string>();
  const recursionFindings = createRecursionCheck(root);
  const validContents = new Set<string>();
  let hasInvalidShared = findings.length > initialCount;
  const compile = (path: Path): ValueValidator | Finding[] => {
    let errors = [...schemaFindings(root, path), ...circularReferenceFindings(root, path, reportedCycles)];
    if (errors.length === 0) errors = metaSchemaFindings(ajv, root, path);
    if (errors.length === 0)
      errors = [...ignoredKeywordFindings(root, path), ...unevaluatedFindings(root, path), ...recursionFindings(path)];
    if (errors.length > 0) return errors;
    const validator = contentValidatorAt(path);
    try {
      if (needsCompilation(validator, path)) validator.compile();
      return validator.validate;
    } catch (error) {
      const finding = unknownWordFinding(ajv, root, [path, ...referencedPaths], error);
      // A schema that fails only through a reported shared schema is not reported again.
      if (finding === undefined && hasInvalidShared) return [];
      return [finding ?? errorAt(path, 'body-schema', `this JSON Schema does not compile: ${reasonOf(error)}`)];
    }
  };
  const needsCompilation = ({ content }: ContentValidator, path: Path) =>
    neededContents.has(content) || !certainlyCompiles(root, path, formats);
  const compiler: SchemaCompiler = {
    root: markedRoot,
    redactedRoot: redactRoot(root, secrets),
    compilations,
    typesAt: (path) => typesAt(root, path),
    compile(path, findings) {
      // Nothing refers to the schema of a route, so its content alone decides if it is valid.
      const validator = path[0] === 'routes' ? contentValidatorAt(path) : undefined;
      if (validator !== undefined && validContents.has(validator.content)) return validator.validate;
      const compiled = compile(path);
      if (typeof compiled === 'function') {
        if (validator !== undefined) validContents.add(validator.content);
        return compiled;
      }
      findings.push(...compiled.map(relocate));
      hasInvalidShared ||= path[0] === 'schemas' || path[0] === 'files';
      return undefined;
    },
  };
  for (const target of referencedPaths) {
    compiler.compile(target, findings);
    yield;
  }
  return compiler;
}

/** Removes values from the environment from the schemas of a root. */
export function redactRoot({ schemas, routes, files }: SchemaRoot, { redactValue }: Secrets): SchemaRoot {
  return { schemas: redactValue(schemas, ['schemas']), routes: redactValue(routes, ['routes']), files };
}

function metaSchemaFindings(validator: AjvValidator, root: SchemaRoot, path: Path): Finding[] {
  return validator
    .metaSchemaErrors(valueAt(root, path))
    .slice(0, 1)
    .map((error) => {
      const inside = error.instancePath
        .split('/')
        .slice(1)
        .map((name) => (/^\d+$/.test(name) ? Number(name) : name));
      return errorAt(
        [...path, ...inside],
        'body-schema',
        `this is not valid JSON Schema: it ${error.message}${allowed(error)}`,
      );
    });
}

function allowed(error: ErrorObject): string {
  const values: unknown = error.params['allowedValues'];
  return Array.isArray(values) ? `: ${values.join(', ')}` : '';
}

/** Finds an unknown keyword or format: ajv's error names it without its location. */
function unknownWordFinding(
  { keywords, formats }: AjvValidator,
  root: SchemaRoot,
  paths: readonly Path[],
  error: unknown,
): Finding | undefined {
  const [, kind, word] = /^unknown (keyword|format):? "([^"]+)"/.exec(reasonOf(error)) ?? [];
  if (word === undefined) return undefined;
  // It is in the schema itself, or in a shared one that it refers to.
  const shared = Object.keys(root.schemas).map((name) => ['schemas', name]);
  const at = [...paths, ...shared].map((path) => findWord(root, path, kind, word)).find((path) => path !== undefined);
  if (at === undefined) return undefined;
  if (kind === 'format') return errorAt(at, 'body-schema', `"${word}" is not a format${suggestion(word, formats)}`);
  const near = didYouMean(
    word,
    keywords.filter((keyword) => keyword !== word),
  );
  const fix = near === undefined ? '; remove it' : suggestion(word, [near]);
  return errorAtKey(at, 'body-schema', `"${word}" is not a keyword of JSON Schema${fix}`);
}

function findWord(root: SchemaRoot, path: Path, kind: string | undefined, word: string): Path | undefined {
  for (const { key, value, at } of keywordsOf(valueAt(root, path), path)) {
    if (kind === 'format' ? key === 'format' && value === word : key === word) return at;
  }
  return undefined;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^strict mode: /, '') : String(error);
}
