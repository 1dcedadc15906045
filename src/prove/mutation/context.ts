import type { PlannedManifest } from '../../engine/load.ts';
import type { Manifest, RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import { runToEnd } from '../../engine/plan/sliced-work.ts';
import type { Path } from '../../engine/problem/finding.ts';
import type { Pattern } from '../../engine/routing/pattern.ts';
import { SamplePaths } from '../../engine/routing/route-index.ts';
import { readSchemas } from '../../engine/schema/schema-bundle.ts';
import { typesAt } from '../../engine/schema/schema-walk.ts';
import { ANY_ROLE, tokenEntries } from '../../engine/tokens/token-entries.ts';
import { createParameterValidator } from '../../engine/validation/request-rules.ts';
import { type ComparedSchema, compareSchemas } from '../schema-comparison/compare-schemas.ts';
import type { TestFile } from '../testing/test-file.generated.ts';
import { withValue } from './edits.ts';

type SchemaSide = ReturnType<typeof readSchemas>;
/** Returns a schema with its validation: of values, or of the texts of a parameter. */
type SchemaReader = (side: SchemaSide, path: Path) => ComparedSchema;

/** A route as written and as compiled. */
export interface TestedRoute {
  /** For example `['routes', 3]`. */
  readonly path: Path;
  readonly entry: RouteEntry;
  readonly route: Route;
  readonly pattern: Pattern;
}

export type MutationContext = ReturnType<typeof createMutationContext>;

/** Returns the original manifest, and facts about its test file that mutators use. */
export function createMutationContext(
  { manifest, plan }: Pick<PlannedManifest, 'manifest' | 'plan'>,
  readFile: Environment['readFile'],
  testFile: TestFile,
) {
  const routes = plan.routes.map(
    (route, index): TestedRoute => ({
      path: ['routes', index],
      entry: manifest.routes[index] as TestedRoute['entry'],
      route,
      pattern: route.pattern,
    }),
  );
  const samples = runToEnd(SamplePaths.create(routes.map(({ pattern }) => pattern)));
  const original = readSchemas(manifest, readFile);
  const newValues = (path: Path, changed: Manifest, schemaAt: SchemaReader) =>
    valuesBetween(schemaAt(original, path), schemaAt(readSchemas(changed, readFile), path));
  const validValues = (path: Path, schemaAt: SchemaReader) => valuesBetween(NOTHING, schemaAt(original, path));
  const newTexts = (path: Path, changed: Manifest) => newValues(path, changed, parameterAt).map(String);
  const known = [ANY_ROLE, ...tokenEntries(manifest.auth).flatMap(({ allow }) => allow)];
  return {
    manifest,
    plan,
    routes,
    /** A role that the manifest does not allow. If the test file uses such roles, it is one of these. */
    otherRole: testedRoles(testFile).find((role) => !known.includes(role)) ?? 'other-role',
    /** An origin that the manifest does not allow, taken from the test file if possible. */
    otherOrigin:
      originsOf(testFile).find((origin) => !manifest.cors?.origins.includes(origin)) ?? 'https://other.example',
    sendsOrigin: originsOf(testFile).length > 0,
    /** Returns a token of the test file that has this role. */
    tokenOfRole: (role: string) => Object.entries(testFile.tokens).find(([, token]) => token.role === role)?.[0],
    samplePaths: (pattern: Pattern) => samples.of(pattern),
    /** Returns a value, or the text of a parameter, that the schema at a path accepts in the changed manifest only; none if no sample shows it. */
    newValues: (path: Path, changed: Manifest) => newValues(path, changed, bodyAt),
    newTexts,
    /** Returns a value, or the text of a parameter, that the schema at a path accepts; none if no sample is valid. */
    validValues: (path: Path) => validValues(path, bodyAt),
    validTexts: (path: Path) => validValues(path, parameterAt).map(String),
    invalidTexts: (path: Path) => newTexts(path, withValue(manifest, path, {})),
  };
}

function bodyAt({ root, validatorAt }: SchemaSide, path: Path): ComparedSchema {
  const validate = validatorAt(path);
  return comparedSchema(root, path, (value) => validate(value, Number.POSITIVE_INFINITY).length === 0);
}

/** Validates texts as the gateway validates a parameter. A text that no test case can send as a path parameter is not valid. */
function parameterAt({ root, validatorAt }: SchemaSide, path: Path): ComparedSchema {
  const validateValue = validatorAt(path);
  const validate = createParameterValidator({
    validate: (value) => validateValue(value, Number.POSITIVE_INFINITY),
    types: typesAt(root, path),
  });
  const isInPath = path.includes('params');
  return comparedSchema(root, path, (value) => {
    if (value === null || typeof value === 'object') return false;
    const text = String(value);
    return (!isInPath || isPlainSegment(text)) && validate(text, '').length === 0;
  });
}

/** True if a text can be a segment of a path as it is. */
export function isPlainSegment(text: string): boolean {
  return /^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$/.test(text) && !text.endsWith('.');
}

function comparedSchema(root: SchemaSide['root'], path: Path, accepts: (value: unknown) => boolean): ComparedSchema {
  return { root, path, accepts, refuses: (value) => !accepts(value) };
}

/** Returns a value that only the second schema accepts. */
function valuesBetween(old: ComparedSchema, next: ComparedSchema): readonly unknown[] {
  const { looser } = compareSchemas(old, next);
  return looser === undefined ? [] : [looser];
}

/** Accepts no value. */
const NOTHING: ComparedSchema = {
  root: { schemas: { Nothing: false }, routes: [], files: {} },
  path: ['schemas', 'Nothing'],
  accepts: () => false,
  refuses: () => true,
};

function testedRoles({ cases, tokens }: TestFile): string[] {
  const tokenRoles = Object.values(tokens).flatMap(({ role }) => role ?? []);
  return [...cases.flatMap(({ request }) => request.role ?? []), ...tokenRoles];
}

function originsOf({ cases }: TestFile): string[] {
  return cases.flatMap(({ request }) =>
    Object.entries(request.headers).flatMap(([name, value]) => (name.toLowerCase() === 'origin' ? value : [])),
  );
}
