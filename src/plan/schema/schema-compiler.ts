import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Manifest } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { didYouMean, suggestion } from '../../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import type { AjvValidator } from './ajv-validator.ts';
import { withHiddenKeywords } from './hidden-keywords.ts';
import { ignoredKeywordFindings } from './ignored-keywords.ts';
import { bundleSchemas, type SchemaRoot } from './schema-bundle.ts';
import { circularReferenceFindings, schemaFindings } from './schema-findings.ts';
import { createRecursionCheck } from './schema-recursion.ts';
import { keywordsOf, typesAt, valueAt } from './schema-walk.ts';
import { unevaluatedFindings } from './unevaluated-findings.ts';
import { createSchemaValidators, type ValueValidator } from './value-validator.ts';

export interface SchemaCompiler {
  /** Compiles the schema that stands at a path of the manifest; what is wrong with it goes to `findings`. */
  compile(path: Path, findings: Finding[]): ValueValidator | undefined;
  /** The JSON types that the schema at a path speaks of, itself or by what it refers to. */
  typesAt(path: Path): ReadonlySet<string>;
  /** The schemas as they may be printed. */
  readonly redactedRoot: SchemaRoot;
  /** The schemas that it compiles, for others to compile them too. */
  readonly root: SchemaRoot;
}

/**
 * Compiles the JSON Schemas of one manifest and of the files that it refers to. `$ref: '#/schemas/Name'` refers into
 * the manifest itself. What is wrong with a file goes to `findings` at once.
 */
export function createSchemaCompiler(
  manifest: Manifest,
  readFile: Environment['readFile'],
  secrets: Secrets,
  findings: Finding[],
): SchemaCompiler {
  const before = findings.length;
  const { root, referencedPaths, relocate } = bundleSchemas(manifest, readFile, findings);
  const judged = withHiddenKeywords(root, secrets);
  const { validatorAt, ajv } = createSchemaValidators(judged);
  const told = new Set<string>();
  const growthFaults = createRecursionCheck(root);
  let hasFaultyShared = findings.length > before;
  const compile = (path: Path): ValueValidator | Finding[] => {
    let faults = [...schemaFindings(root, path), ...circularReferenceFindings(root, path, told)];
    if (faults.length === 0) faults = metaSchemaFindings(ajv, root, path);
    if (faults.length === 0)
      faults = [...ignoredKeywordFindings(root, path), ...unevaluatedFindings(root, path), ...growthFaults(path)];
    if (faults.length > 0) return faults;
    try {
      return validatorAt(path);
    } catch (error) {
      const fault = unknownWordFinding(ajv, root, [path, ...referencedPaths], error);
      // What fails only through a shared schema that was told of already is not told of again.
      if (fault === undefined && hasFaultyShared) return [];
      return [fault ?? errorAt(path, 'body-schema', `this JSON Schema does not compile: ${reasonOf(error)}`)];
    }
  };
  const compiler: SchemaCompiler = {
    root: judged,
    redactedRoot: redactRoot(root, secrets),
    typesAt: (path) => typesAt(root, path),
    compile(path, findings) {
      const judge = compile(path);
      if (typeof judge === 'function') return judge;
      findings.push(...judge.map(relocate));
      hasFaultyShared ||= path[0] === 'schemas' || path[0] === 'files';
      return undefined;
    },
  };
  for (const target of referencedPaths) compiler.compile(target, findings);
  return compiler;
}

/** The schemas of a root as they may be printed. */
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
        `a JSON Schema cannot have this here: it ${error.message}${allowed(error)}`,
      );
    });
}

function allowed(error: ErrorObject): string {
  const values: unknown = error.params['allowedValues'];
  return Array.isArray(values) ? `: ${values.join(', ')}` : '';
}

/** The compiler names an unknown keyword or format, not its place: it is looked for. */
function unknownWordFinding(
  { keywords, formats }: AjvValidator,
  root: SchemaRoot,
  places: readonly Path[],
  error: unknown,
): Finding | undefined {
  const [, kind, word] = /^unknown (keyword|format):? "([^"]+)"/.exec(reasonOf(error)) ?? [];
  if (word === undefined) return undefined;
  // In the schema itself, or in a shared one that it refers to.
  const shared = Object.keys(root.schemas).map((name) => ['schemas', name]);
  const at = [...places, ...shared].map((place) => findWord(root, place, kind, word)).find((found) => found);
  if (at === undefined) return undefined;
  if (kind === 'format') return errorAt(at, 'body-schema', `"${word}" is not a format${suggestion(word, formats)}`);
  const near = didYouMean(
    word,
    keywords.filter((known) => known !== word),
  );
  const remedy = near === undefined ? 'remove it' : `did you mean "${near}"?`;
  return errorAtKey(at, 'body-schema', `"${word}" is not a keyword of JSON Schema; ${remedy}`);
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
