import type { Manifest } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { errorAt, type Finding, type Path } from '../../problem/finding.ts';
import type { Secrets } from '../../problem/redaction.ts';
import { withHiddenKeywords } from './hidden-keywords.ts';
import { bundleSchemas, type SchemaRoot } from './schema-bundle.ts';
import { createSchemaCheck } from './schema-check.ts';
import { createRecursionCheck } from './schema-recursion.ts';
import { typesAt } from './schema-walk.ts';
import { unevaluatedFindings } from './unevaluated-findings.ts';
import { createSchemaValidators, type ValueValidator } from './value-validator.ts';

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
}

/**
 * Creates the compiler of a manifest's JSON Schemas and of the files that they refer to. `$ref: '#/schemas/Name'` refers
 * to the manifest itself. Findings about files go to `findings` at once.
 */
export function createSchemaCompiler(
  manifest: Manifest,
  readFile: Environment['readFile'],
  secrets: Secrets,
  findings: Finding[],
): SchemaCompiler {
  const { root, referencedPaths: fileTargets, relocate } = bundleSchemas(manifest, readFile, findings);
  const markedRoot = withHiddenKeywords(root, secrets);
  const { validatorAt } = createSchemaValidators(markedRoot);
  const check = createSchemaCheck(root, fileTargets);
  const recursionFindings = createRecursionCheck(root);
  const compile = (path: Path): ValueValidator | Finding[] => {
    const { findings: own, isValid } = check(path);
    if (!isValid) return [...own];
    const errors = [...unevaluatedFindings(root, path), ...recursionFindings(path)];
    if (errors.length > 0) return errors;
    try {
      return validatorAt(path);
    } catch (error) {
      return [errorAt(path, 'body-schema', `this JSON Schema does not compile: ${reasonOf(error)}`)];
    }
  };
  const compiler: SchemaCompiler = {
    root: markedRoot,
    redactedRoot: redactRoot(root, secrets),
    typesAt: (path) => typesAt(root, path),
    compile(path, findings) {
      const compiled = compile(path);
      if (typeof compiled === 'function') return compiled;
      findings.push(...compiled.map(relocate));
      return undefined;
    },
  };
  for (const target of fileTargets) compiler.compile(target, findings);
  return compiler;
}

/** Removes values from the environment from the schemas of a root. */
export function redactRoot({ schemas, routes, files }: SchemaRoot, { redactValue }: Secrets): SchemaRoot {
  return { schemas: redactValue(schemas, ['schemas']), routes: redactValue(routes, ['routes']), files };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^strict mode: /, '') : String(error);
}
