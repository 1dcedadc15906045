import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import type { Manifest } from '../manifest/manifest.generated.ts';
import { didYouMean, suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { Fault } from './plan.ts';
import { pointerStep } from './pointer.ts';
import { toFault } from './schema-error.ts';
import { circleFaults, schemaFaults } from './schema-faults.ts';
import { keywordsOf, typesAt, valueAt } from './schema-walk.ts';
import { SURVIVES, withSurvivingIntegers } from './surviving-integers.ts';

const MAX_FAULTS = 20;
/** Of a longer body the first fault is told: to find all of them may take time by the square of the length. */
const EXPLAINED_BYTES = 8_192;
const MANIFEST = 'manifest:';
const META = 'https://json-schema.org/draft/2020-12/schema';

/** Judges a parsed value: empty when it fits. `size` is how many bytes it was. */
export type Judge = (value: unknown, size: number) => readonly Fault[];

export interface SchemaCompiler {
  /** Compiles the schema that stands at a path of the manifest; what is wrong with it goes to `findings`. */
  compile(path: Path, findings: Finding[]): Judge | undefined;
  /** The JSON types that the schema at a path speaks of, itself or by what it refers to. */
  typesAt(path: Path): ReadonlySet<string>;
}

/**
 * Compiles the JSON Schemas of one manifest. `$ref: '#/schemas/Name'` refers into the manifest itself.
 * Values are judged, never changed: no coercion, no defaults, no removal. Patterns run in linear time, since
 * they meet hostile input.
 */
export function createSchemaCompiler(manifest: Manifest): SchemaCompiler {
  const first = createAjv(false);
  const all = createAjv(true);
  const told = new Set<string>();
  let hasFaultyShared = false;
  return {
    typesAt: (path) => typesAt(manifest, path),
    compile(path, findings) {
      const own = [
        ...schemaFaults(manifest, path, (pattern) => RE2JS.compile(pattern)),
        ...circleFaults(manifest, path, told),
      ];
      const faults = own.length > 0 ? own : metaFaults(first, manifest, path);
      findings.push(...faults);
      hasFaultyShared ||= faults.length > 0 && path[0] === 'schemas';
      if (faults.length > 0) return undefined;
      try {
        const reference = `${MANIFEST}#${path.map((step) => `/${encodeURIComponent(pointerStep(step).slice(1))}`).join('')}`;
        const fits = getSchema(first, manifest, reference);
        const explain = getSchema(all, manifest, reference);
        return (value, size) => {
          if (fits(value)) return [];
          const errors = size > EXPLAINED_BYTES || explain(value) ? fits.errors : explain.errors;
          return (errors ?? []).slice(0, MAX_FAULTS).map(toFault);
        };
      } catch (error) {
        const fault = wordFault(first, manifest, path, error);
        // What fails only through a shared schema that was told of already is not told of again.
        const other = errorAt(path, 'body-schema', `this JSON Schema does not compile: ${reasonOf(error)}`);
        if (fault !== undefined || !hasFaultyShared) findings.push(fault ?? other);
        hasFaultyShared ||= path[0] === 'schemas';
        return undefined;
      }
    },
  };
}

function createAjv(allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allErrors,
    ownProperties: true,
    // An error then knows its schema, for what that says of itself.
    verbose: true,
    logger: false,
    code: { regExp: linear },
  });
  // The default export of a CommonJS module, as Node and as TypeScript see it.
  (ajvFormats as unknown as typeof ajvFormats.default)(ajv);
  ajv.addKeyword(SURVIVES);
  ajv.addKeyword({ keyword: 'errorMessage', schemaType: 'string' });
  return ajv;
}

function getSchema(ajv: Ajv2020, manifest: Manifest, reference: string): ValidateFunction {
  if (ajv.schemas[MANIFEST] === undefined) addManifest(ajv, manifest);
  const validate = ajv.getSchema(reference);
  if (validate === undefined) throw new Error('it was not found');
  return validate;
}

/** The manifest around the schemas is none itself; each of them is validated where it is compiled. */
function addManifest(ajv: Ajv2020, { schemas, routes }: Manifest): void {
  const root = withSurvivingIntegers({ schemas, routes });
  for (const keyword of Object.keys(root)) {
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      compile: (_value: unknown, parent: object) => {
        if (parent !== root) throw new Error(`unknown keyword: "${keyword}"`);
        return () => true;
      },
    });
  }
  ajv.addSchema(root, MANIFEST, false, false);
}

/** A pattern in RE2's language. `toString` must tell patterns apart: ajv keeps one of those that print alike. */
function linear(pattern: string, flags: string) {
  const compiled = RE2JS.compile(pattern);
  return { test: (text: string) => compiled.matcher(text).find(), toString: () => `/${pattern}/${flags}` };
}
linear.code = 'linear';

function metaFaults(ajv: Ajv2020, manifest: Manifest, path: Path): Finding[] {
  const schema = valueAt(manifest, path) as object;
  if (ajv.validate(META, schema)) return [];
  return (ajv.errors ?? []).slice(0, 1).map((error) => {
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
function wordFault(ajv: Ajv2020, manifest: Manifest, path: Path, error: unknown): Finding | undefined {
  const [, kind, word] = /^unknown (keyword|format):? "([^"]+)"/.exec(reasonOf(error)) ?? [];
  if (word === undefined) return undefined;
  // In the schema itself, or in a shared one that it refers to.
  const shared = Object.keys(manifest.schemas).map((name) => ['schemas', name]);
  const at = [path, ...shared].map((place) => findWord(manifest, place, kind, word)).find((found) => found);
  if (at === undefined) return undefined;
  if (kind === 'format')
    return errorAt(at, 'body-schema', `"${word}" is not a format${suggestion(word, Object.keys(ajv.formats))}`);
  const near = didYouMean(
    word,
    Object.keys(ajv.RULES.keywords).filter((known) => known !== word),
  );
  const remedy = near === undefined ? 'remove it' : `did you mean "${near}"?`;
  return errorAtKey(at, 'body-schema', `"${word}" is not a keyword of JSON Schema; ${remedy}`);
}

function findWord(manifest: Manifest, path: Path, kind: string | undefined, word: string): Path | undefined {
  for (const { key, value, at } of keywordsOf(valueAt(manifest, path), path)) {
    if (kind === 'format' ? key === 'format' && value === word : key === word) return at;
  }
  return undefined;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^strict mode: /, '') : String(error);
}
