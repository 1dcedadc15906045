import type { ErrorObject } from 'ajv/dist/2020.js';
import type { Manifest } from '../manifest/manifest.generated.ts';
import type { Secrets } from '../manifest/secrets.ts';
import type { World } from '../manifest/source.ts';
import { didYouMean, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import { withHiddenKeywords } from './hidden-keywords.ts';
import { ignoredFaults } from './ignored-keywords.ts';
import { createJudges, type Judge } from './judges.ts';
import { circleFaults, schemaFaults } from './schema-faults.ts';
import { bundleSchemas, type SchemaRoot } from './schema-files.ts';
import { createGrowthCheck } from './schema-growth.ts';
import { keywordsOf, typesAt, valueAt } from './schema-walk.ts';
import { unevaluatedFaults } from './unevaluated-faults.ts';
import type { Validator } from './validator.ts';

export interface SchemaCompiler {
  /** Compiles the schema that stands at a path of the manifest; what is wrong with it goes to `findings`. */
  compile(path: Path, findings: Finding[]): Judge | undefined;
  /** The JSON types that the schema at a path speaks of, itself or by what it refers to. */
  typesAt(path: Path): ReadonlySet<string>;
  /** The schemas as they may be printed. */
  readonly shown: SchemaRoot;
  /** The schemas that it compiles, for others to compile them too. */
  readonly root: SchemaRoot;
}

/**
 * Compiles the JSON Schemas of one manifest and of the files that it refers to. `$ref: '#/schemas/Name'` refers into
 * the manifest itself. What is wrong with a file goes to `findings` at once.
 */
export function createSchemaCompiler(
  manifest: Manifest,
  readFile: World['readFile'],
  secrets: Secrets,
  findings: Finding[],
): SchemaCompiler {
  const before = findings.length;
  const { root, targets, placed } = bundleSchemas(manifest, readFile, findings);
  const judged = withHiddenKeywords(root, secrets);
  const { judgeAt, validator } = createJudges(judged);
  const told = new Set<string>();
  const growthFaults = createGrowthCheck(root);
  let hasFaultyShared = findings.length > before;
  const compile = (path: Path): Judge | Finding[] => {
    let faults = [...schemaFaults(root, path), ...circleFaults(root, path, told)];
    if (faults.length === 0) faults = metaFaults(validator, root, path);
    if (faults.length === 0)
      faults = [...ignoredFaults(root, path), ...unevaluatedFaults(root, path), ...growthFaults(path)];
    if (faults.length > 0) return faults;
    try {
      return judgeAt(path);
    } catch (error) {
      const fault = wordFault(validator, root, [path, ...targets], error);
      // What fails only through a shared schema that was told of already is not told of again.
      if (fault === undefined && hasFaultyShared) return [];
      return [fault ?? errorAt(path, 'body-schema', `this JSON Schema does not compile: ${reasonOf(error)}`)];
    }
  };
  const compiler: SchemaCompiler = {
    root: judged,
    shown: shownRoot(root, secrets),
    typesAt: (path) => typesAt(root, path),
    compile(path, findings) {
      const judge = compile(path);
      if (typeof judge === 'function') return judge;
      findings.push(...judge.map(placed));
      hasFaultyShared ||= path[0] === 'schemas' || path[0] === 'files';
      return undefined;
    },
  };
  for (const target of targets) compiler.compile(target, findings);
  return compiler;
}

/** The schemas of a root as they may be printed. */
export function shownRoot({ schemas, routes, files }: SchemaRoot, { shown }: Secrets): SchemaRoot {
  return { schemas: shown(schemas, ['schemas']), routes: shown(routes, ['routes']), files };
}

function metaFaults(validator: Validator, root: SchemaRoot, path: Path): Finding[] {
  return validator
    .faultsOf(valueAt(root, path))
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
function wordFault(
  { keywords, formats }: Validator,
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
