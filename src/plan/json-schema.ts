import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { RE2JS } from 're2js';
import type { Manifest } from '../manifest/manifest.generated.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path } from '../problem/finding.ts';
import type { BodyFault } from './plan.ts';
import { pointerStep } from './pointer.ts';

const MAX_FAULTS = 20;
const MANIFEST = 'manifest:';

/** Judges a parsed value: empty when it fits. */
export type Judge = (value: unknown) => readonly BodyFault[];

export interface SchemaCompiler {
  /** Compiles the schema that stands at a path of the manifest; what is wrong with it goes to `findings`. */
  compile(path: Path, findings: Finding[]): Judge | undefined;
}

/**
 * Compiles the JSON Schemas of one manifest. `$ref: '#/schemas/Name'` refers into the manifest itself.
 * Values are judged, never changed: no coercion, no defaults, no removal. Patterns run in linear time, since
 * they meet hostile input.
 */
export function createSchemaCompiler(manifest: Manifest): SchemaCompiler {
  const first = createAjv(manifest, false);
  const all = createAjv(manifest, true);
  let hasFaultyShared = false;
  return {
    compile(path, findings) {
      const faults = [...ownFaults(manifest, valueAt(manifest, path), path), ...metaFaults(first, manifest, path)];
      findings.push(...faults);
      hasFaultyShared ||= faults.length > 0 && path[0] === 'schemas';
      if (faults.length > 0) return undefined;
      try {
        const reference = MANIFEST + path.map(pointerStep).join('').replace(/^/, '#');
        const fits = getSchema(first, reference);
        const explain = getSchema(all, reference);
        return (value) =>
          fits(value) || explain(value) ? [] : (explain.errors ?? []).slice(0, MAX_FAULTS).map(toFault);
      } catch (error) {
        // What fails only through a shared schema that was told of already is not told of again.
        const isShared = path[0] === 'schemas';
        if (isShared || !hasFaultyShared) findings.push(compileFault(first, manifest, path, error));
        hasFaultyShared ||= isShared;
        return undefined;
      }
    },
  };
}

function createAjv(manifest: Manifest, allErrors: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictTuples: false,
    allErrors,
    ownProperties: true,
    logger: false,
    code: { regExp: linear },
  });
  // The default export of a CommonJS module, as Node and as TypeScript see it.
  (ajvFormats as unknown as typeof ajvFormats.default)(ajv);
  // The manifest around the schemas is none itself; each of them is validated where it is compiled.
  const root = { schemas: manifest.schemas, routes: manifest.routes };
  for (const keyword of Object.keys(root)) {
    ajv.addKeyword({
      keyword,
      compile: (_value: unknown, parent: object) => {
        if (parent !== root) throw new Error(`unknown keyword: "${keyword}"`);
        return () => true;
      },
    });
  }
  ajv.addSchema(root, MANIFEST, false, false);
  return ajv;
}

function getSchema(ajv: Ajv2020, reference: string): ValidateFunction {
  const validate = ajv.getSchema(reference);
  if (validate === undefined) throw new Error('it was not found');
  return validate;
}

/** A pattern in RE2's language. `toString` must tell patterns apart: ajv keeps one of those that print alike. */
function linear(pattern: string, flags: string) {
  const compiled = RE2JS.compile(pattern);
  return { test: (text: string) => compiled.matcher(text).find(), toString: () => `/${pattern}/${flags}` };
}
linear.code = 'linear';

/** What ajv would tell of without a place, or not at all. */
function* ownFaults(manifest: Manifest, schema: unknown, path: Path): Generator<Finding> {
  if (schema === null || typeof schema !== 'object') return;
  for (const [key, value] of Object.entries(schema)) {
    const here = [...path, Array.isArray(schema) ? Number(key) : key];
    if (key === 'pattern' && typeof value === 'string') yield* patternFaults(value, here);
    else if (key === '$ref' && typeof value === 'string') yield* referenceFaults(manifest, value, here);
    else yield* ownFaults(manifest, value, here);
  }
}

function* patternFaults(pattern: string, path: Path): Generator<Finding> {
  try {
    RE2JS.compile(pattern);
  } catch (error) {
    const message = `this pattern does not run in linear time: ${reasonOf(error)}; write it without look-around and back-references`;
    yield errorAt(path, 'body-schema', message);
  }
}

function* referenceFaults(manifest: Manifest, reference: string, path: Path): Generator<Finding> {
  const name = /^#\/schemas\/([^/]+)/.exec(reference)?.[1];
  if (name === undefined) {
    yield errorAt(
      path,
      'body-schema',
      `"${reference}" refers to something outside of "schemas"; write #/schemas/ and a name`,
    );
  } else if (!Object.hasOwn(manifest.schemas, name)) {
    yield errorAt(
      path,
      'body-schema',
      `no schema is named "${name}"${suggestion(name, Object.keys(manifest.schemas))}`,
    );
  }
}

function metaFaults(ajv: Ajv2020, manifest: Manifest, path: Path): Finding[] {
  const schema = valueAt(manifest, path) as object;
  if (ajv.validateSchema(schema) === true) return [];
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

function toFault(error: ErrorObject): BodyFault {
  const { keyword, params, instancePath } = error;
  if (keyword === 'required')
    return { pointer: instancePath + pointerStep(params['missingProperty']), message: 'is missing' };
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties')
    return { pointer: instancePath, message: 'has a member that is not known here' };
  if (keyword === 'enum')
    return {
      pointer: instancePath,
      message: `must be one of ${params['allowedValues'].map((value: unknown) => JSON.stringify(value)).join(', ')}`,
    };
  return { pointer: instancePath, message: error.message ?? keyword };
}

/** The compiler names an unknown keyword or format, not its place: it is looked for. */
function compileFault(ajv: Ajv2020, manifest: Manifest, path: Path, error: unknown): Finding {
  const [, kind, word] = /^unknown (keyword|format):? "([^"]+)"/.exec(reasonOf(error)) ?? [];
  if (word === undefined) return errorAt(path, 'body-schema', `this JSON Schema does not compile: ${reasonOf(error)}`);
  const at = findWord(manifest, path, word);
  if (kind === 'format')
    return errorAt(at, 'body-schema', `"${word}" is not a format${suggestion(word, Object.keys(ajv.formats))}`);
  return errorAtKey(
    at,
    'body-schema',
    `"${word}" is not a keyword of JSON Schema${suggestion(
      word,
      Object.keys(ajv.RULES.keywords).filter((known) => known !== word),
    )}`,
  );
}

function findWord(manifest: Manifest, path: Path, word: string): Path {
  const find = (value: unknown, at: Path): Path | undefined => {
    if (value === null || typeof value !== 'object') return value === word ? at : undefined;
    for (const [key, inside] of Object.entries(value)) {
      const here = [...at, Array.isArray(value) ? Number(key) : key];
      const found = key === word ? here : find(inside, here);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return find(valueAt(manifest, path), path) ?? path;
}

function valueAt(root: unknown, path: Path): unknown {
  return path.reduce<unknown>((value, step) => (value as Record<string | number, unknown>)[step], root);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/^strict mode: /, '') : String(error);
}
