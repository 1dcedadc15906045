import { posix } from 'node:path';
import { formatPointer } from '../../json-pointer.ts';
import { parse } from '../../manifest/document.ts';
import type { Manifest } from '../../manifest/manifest.generated.ts';
import type { Environment } from '../../manifest/source.ts';
import { errorAt, type Finding, type Path } from '../../problem/finding.ts';
import { toProblems } from '../../problem/problem.ts';
import { isMap, isSchema, mapSchemas, referencePath, referenceTo, valueAt } from './schema-walk.ts';

const RULE = 'body-schema';
/** A folder may hold itself by a link, and a file so refer to another one for ever. */
const MAX_FILES = 200;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:|^\/\//;

/** All schemas of a manifest, and of the files that they refer to, in one value whose references stay inside of it. */
export interface SchemaRoot {
  readonly schemas: Manifest['schemas'];
  readonly routes: Manifest['routes'];
  /** By their paths relative to the manifest. */
  readonly files: Readonly<Record<string, unknown>>;
}

export interface SchemaBundle {
  readonly root: SchemaRoot;
  /** The schemas of the files that are referred to: paths of the root. */
  readonly referencedPaths: readonly Path[];
  /** The same finding at a place of the manifest: what stands in a file is told where the file is referred to. */
  readonly relocate: (finding: Finding) => Finding;
}

/**
 * Reads the files that a `$ref` names, JSON or YAML, by a path relative to where it stands: files beside the
 * manifest and below it. No other file is read, and nothing is ever fetched.
 */
export function bundleSchemas(
  manifest: Manifest,
  readFile: Environment['readFile'],
  findings: Finding[],
): SchemaBundle {
  return new Bundler(readFile, findings).bundle(manifest);
}

/** Where a reference leads, and where it stands: both paths of the root. */
interface Reference {
  readonly target: Path;
  readonly place: Path;
}

class Bundler {
  readonly #readFile: Environment['readFile'];
  readonly #findings: Finding[];
  readonly #files: Record<string, unknown> = Object.create(null);
  /** Where in the manifest a file was first needed. */
  readonly #origins = new Map<string, Path>();
  readonly #references = new Map<string, Reference>();

  constructor(readFile: Environment['readFile'], findings: Finding[]) {
    this.#readFile = readFile;
    this.#findings = findings;
  }

  bundle(manifest: Manifest): SchemaBundle {
    const schemas = this.#inside(manifest.schemas, ['schemas']);
    const routes = manifest.routes.map((route, index) =>
      hasSchemas(route) ? this.#inside(route, ['routes', index]) : route,
    );
    const root = { schemas, routes, files: this.#files };
    const relocate = (finding: Finding) => relocateToOrigin(finding, this.#origins);
    return { root, referencedPaths: this.#soundTargets(root), relocate };
  }

  /** @param base the file that the schemas stand in; `undefined`: the manifest itself */
  #inside<T>(holder: T, at: Path, base?: string): T {
    const change = (schema: Record<string, unknown>, inside: Path) => {
      const { $ref: reference, ...others } = schema;
      const isOwn = base === undefined && typeof reference === 'string' && reference.startsWith('#');
      if (typeof reference !== 'string' || isOwn || SCHEME.test(reference)) return schema;
      const target = this.#follow(reference, [...at, ...inside, '$ref'], base);
      return target === undefined ? others : { ...others, $ref: referenceTo(target) };
    };
    return mapSchemas(holder, change, at.length === 1 && at[0] === 'schemas');
  }

  /** Takes in the file that a reference names; `undefined` where it names none. */
  #follow(reference: string, place: Path, base: string | undefined): Path | undefined {
    const target =
      this.#origins.size < MAX_FILES
        ? targetOf(reference, base)
        : `more than ${MAX_FILES} files are not read; put some schemas together`;
    if (typeof target === 'string') {
      this.#find(place, target);
      return undefined;
    }
    const [, file] = target as [string, string];
    if (!this.#origins.has(file)) {
      this.#origins.set(file, base === undefined ? place : (this.#origins.get(base) ?? place));
      const value = readSchemas(file, this.#readFile, (message) => this.#find(place, message));
      this.#files[file] = this.#inside(withoutId(value), ['files', file], file);
    }
    this.#references.set(JSON.stringify(target), { target, place });
    return target;
  }

  #soundTargets(root: SchemaRoot): Path[] {
    return [...this.#references.values()].flatMap(({ target, place }) => {
      if (isSchema(valueAt(root, target))) return [target];
      const [, file, ...inside] = target;
      this.#find(place, `the file "${file}" has no schema at "#${formatPointer(inside)}"`);
      return [];
    });
  }

  #find(place: Path, message: string): void {
    this.#findings.push(relocateToOrigin(errorAt(place, RULE, message), this.#origins));
  }
}

/** Most routes have none, and there may be many routes. */
function hasSchemas(route: Manifest['routes'][number] | null): boolean {
  return [route?.body, route?.params, route?.query, route?.headers].some((holder) => holder !== undefined);
}

/** The path in the root that a reference stands for, or what is wrong with it. */
function targetOf(reference: string, base: string | undefined): Path | string {
  const [written = '', fragment = ''] = reference.split('#', 2);
  const steps = fragment === '' ? [] : referencePath(`#${fragment}`);
  if (steps === undefined) return `"${reference}" has no JSON Pointer behind the #; write one such as #/$defs/Name`;
  const file = decode(written);
  const named = file === '' ? base : posix.normalize(posix.join(posix.dirname(base ?? '.'), file));
  if (named === undefined || named.startsWith('..') || /^\/|\\/.test(file))
    return `"${reference}" is no file beside the manifest or below it; write its relative path`;
  return ['files', named, ...steps];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Any schema where the file cannot be read: that is told once. */
function readSchemas(file: string, readFile: Environment['readFile'], tell: (message: string) => void): unknown {
  let text: string;
  try {
    text = readFile(file);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'it is not there';
    tell(`the file "${file}" cannot be read (${reason}); write a path relative to where it is named`);
    return true;
  }
  const { document, findings } = parse({ path: file, text });
  const [problem] = toProblems(findings, document);
  if (problem === undefined) return document.value;
  tell(`in ${file} at line ${problem.range.line}: ${problem.message}`);
  return true;
}

/** The `$id` of a whole file is its name on the web, where nobody looks. */
function withoutId(value: unknown): unknown {
  if (!isMap(value) || typeof value['$id'] !== 'string') return value;
  const { $id: _name, ...others } = value;
  return others;
}

function relocateToOrigin(finding: Finding, origins: ReadonlyMap<string, Path>): Finding {
  const { location, message } = finding;
  const [first, file, ...inside] = 'path' in location ? location.path : [];
  const origin = first === 'files' ? origins.get(String(file)) : undefined;
  if (origin === undefined) return finding;
  const place = inside.length === 0 ? String(file) : `${file} at ${formatPointer(inside)}`;
  return { ...finding, location: { path: origin, at: 'value' }, message: `in ${place}: ${message}` };
}
