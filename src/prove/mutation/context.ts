import type { PlannedManifest } from '../../engine/load.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { SamplePaths } from '../../engine/routing/sample-paths.ts';
import { bundleSchemas, type SchemaRoot } from '../../engine/schema/schema-bundle.ts';
import type { Violation } from '../../engine/schema/schema-violation.ts';
import { typesAt } from '../../engine/schema/schema-walk.ts';
import { createSchemaValidators } from '../../engine/schema/value-validator.ts';
import { createParameterValidator } from '../../engine/validation/parameter-value.ts';
import { type ComparedSchema, compareSchemas } from '../schema-comparison/compare-schemas.ts';
import type { TestFile } from '../testing/test-file.generated.ts';
import { withValue } from './edits.ts';
import type { MutationContext, TestedRoute } from './mutant.ts';
import { isPlainSegment } from './probes.ts';

/** The schemas of a manifest, and the validator of each. */
interface SchemaSide {
  readonly root: SchemaRoot;
  readonly validatorAt: (path: Path) => (value: unknown) => readonly Violation[];
}
type SideFilter = (side: SchemaSide) => SchemaSide;

/** Creates the facts that mutators need. */
export function createMutationContext(
  { manifest, plan }: Pick<PlannedManifest, 'manifest' | 'plan'>,
  readFile: Environment['readFile'],
  testFile: TestFile,
): MutationContext {
  const routes = plan.routes.map((route, index) => ({
    path: ['routes', index],
    entry: manifest.routes[index] as TestedRoute['entry'],
    route,
    pattern: route.pattern,
  }));
  const samples = SamplePaths.create(routes.map(({ pattern }) => pattern));
  let original: SchemaSide | undefined;
  const getOriginal = () => {
    original ??= schemaSide(manifest, readFile);
    return original;
  };
  const newValue = (path: Path, changed: Manifest, filter: SideFilter) =>
    valuesBetween(comparedAt(filter(getOriginal()), path), comparedAt(filter(schemaSide(changed, readFile)), path));
  const validValue = (path: Path, filter: SideFilter) =>
    valuesBetween(NOTHING, comparedAt(filter(getOriginal()), path));
  const newTexts = (path: Path, changed: Manifest) => newValue(path, changed, asParameters).map(String);
  return {
    manifest,
    plan,
    routes,
    otherRole: rolesOf(testFile).find((role) => !manifest.auth?.role.allow.includes(role)) ?? 'other-role',
    otherOrigin:
      originsOf(testFile).find((origin) => !manifest.cors?.origins.includes(origin)) ?? 'https://other.example',
    tokenOfRole: (role) => Object.entries(testFile.tokens).find(([, token]) => token.role === role)?.[0],
    samplePaths: (pattern) => samples.of(pattern),
    newValues: (path, changed) => newValue(path, changed, (side) => side),
    newTexts,
    validValues: (path) => validValue(path, (side) => side),
    validTexts: (path) => validValue(path, asParameters).map(String),
    invalidTexts: (path) => newTexts(path, withValue(manifest, path, {})),
  };
}

function schemaSide(manifest: Manifest, readFile: Environment['readFile']): SchemaSide {
  const { root } = bundleSchemas(manifest, readFile, []);
  const { validatorAt } = createSchemaValidators(root);
  return {
    root,
    validatorAt: (path) => {
      const validate = validatorAt(path);
      return (value) => validate(value, Number.POSITIVE_INFINITY);
    },
  };
}

function comparedAt({ root, validatorAt }: SchemaSide, path: Path): ComparedSchema {
  const validate = validatorAt(path);
  const accepts = (value: unknown) => validate(value).length === 0;
  return { root, path, accepts, refuses: (value) => !accepts(value) };
}

/** Returns a value that only the second schema accepts. */
function valuesBetween(old: ComparedSchema, next: ComparedSchema): readonly unknown[] {
  const { looser } = compareSchemas(old, next);
  return looser === undefined ? [] : [looser.value];
}

/** Accepts no value. */
const NOTHING: ComparedSchema = {
  root: { schemas: { Nothing: false }, routes: [], files: {} },
  path: ['schemas', 'Nothing'],
  accepts: () => false,
  refuses: () => true,
};

const NOT_VALID = [{ pointer: '', message: 'is not valid' }] as const;

/**
 * Validates the text of each value as the gateway validates a parameter. Other values are never valid, nor are texts that a
 * request of a test case cannot have as a path parameter.
 */
function asParameters({ root, validatorAt }: SchemaSide): SchemaSide {
  return {
    root,
    validatorAt: (path) => {
      const schema = { validate: validatorAt(path), path, types: typesAt(root, path) };
      const validate = createParameterValidator(schema, { values: undefined });
      const isInPath = path.includes('params');
      return (value) => {
        if (value === null || typeof value === 'object') return NOT_VALID;
        const text = String(value);
        return isInPath && !isPlainSegment(text) ? NOT_VALID : validate(text, '');
      };
    },
  };
}

function rolesOf({ cases, tokens }: TestFile): string[] {
  const tokenRoles = Object.values(tokens).flatMap(({ role }) => role ?? []);
  return [...cases.flatMap(({ request }) => request.role ?? []), ...tokenRoles];
}

function originsOf({ cases }: TestFile): string[] {
  return cases.flatMap(({ request }) =>
    Object.entries(request.headers).flatMap(([name, value]) => (name.toLowerCase() === 'origin' ? value : [])),
  );
}
