import { posix } from 'node:path';
import { attempt } from '../attempt.ts';
import { formatPointer, valueAt } from '../json-pointer.ts';
import { type Document, parse } from '../manifest/document.ts';
import type { Manifest } from '../manifest/manifest.generated.ts';
import { describeFileError, type Environment, fileErrorCode, type Source } from '../manifest/source.ts';
import { runToEnd } from '../plan/sliced-work.ts';
import { errorAt, type Finding, type FindingLocation, type Path } from '../problem/finding.ts';
import { isMap, isSchema, mapSchemas, referencePath, referenceTo, type SchemaRoot } from './schema-walk.ts';
import { createSchemaValidators } from './value-validator.ts';

const RULE = 'body-schema';
/** A symbolic link to a parent folder could create an endless chain of files. */
const MAX_FILES = 200;
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:|^\/\//;

/** The target and the location of a reference: both paths of the root. */
interface Reference {
  readonly target: Path;
  readonly location: Path;
}

/**
 * Reads the JSON or YAML files that `$ref` names relative to its file: only those beside the manifest and below it. Returns the root, and
 * the paths in it of the schemas in files that references lead to.
 */
export function* bundleSchemas(manifest: Manifest, readFile: Environment['readFile'], findings: Finding[]) {
  const files: Record<string, unknown> = Object.create(null);
  const texts = new Map<string, { readonly source: Source; readonly document: Document }>();
  /** The location in the manifest that first needed a file. */
  const origins = new Map<string, Path>();
  const references = new Map<string, Reference>();
  const schemas = resolve(manifest.schemas, ['schemas']);
  const routes: Manifest['routes'] = [];
  for (const [index, route] of manifest.routes.entries()) {
    routes.push(hasSchemas(route) ? resolve(route, ['routes', index]) : route);
    yield;
  }
  const root = { schemas, routes, files };
  return { root, referencedPaths: validTargets(root), relocate };

  /** @param base the file that contains the schemas; `undefined`: the manifest itself */
  function resolve<T>(holder: T, at: Path, base?: string): T {
    if (!hasFileReference(holder, base !== undefined)) return holder;
    const change = (schema: Record<string, unknown>, path: Path) => {
      const { $ref: reference, ...others } = schema;
      const isLocal = base === undefined && typeof reference === 'string' && reference.startsWith('#');
      if (typeof reference !== 'string' || isLocal || SCHEME.test(reference)) return schema;
      const target = follow(reference, [...at, ...path, '$ref'], base);
      return target === undefined ? others : { ...others, $ref: referenceTo(target) };
    };
    return mapSchemas(holder, change, at.length === 1 && at[0] === 'schemas');
  }

  /** Reads the file that a reference names and returns the target's path; `undefined` if there is none. */
  function follow(reference: string, location: Path, base: string | undefined): Path | undefined {
    const target =
      origins.size < MAX_FILES
        ? targetOf(reference, base)
        : `at most ${MAX_FILES} files are read; put several schemas into one file`;
    if (typeof target === 'string') {
      report(location, target);
      return undefined;
    }
    const [, file] = target as [string, string];
    if (!origins.has(file)) {
      origins.set(file, base === undefined ? location : (origins.get(base) ?? location));
      files[file] = resolve(read(file, location), ['files', file], file);
    }
    references.set(JSON.stringify(target), { target, location });
    return target;
  }

  /** Returns the value in a file; `true`, which accepts everything, if it has errors. */
  function read(file: string, location: Path): unknown {
    let text: string;
    try {
      text = readFile(file);
    } catch (error) {
      const reason = `the file "${file}" cannot be read: ${describeFileError(fileErrorCode(error), 'the file that names it')}`;
      const isName = Object.hasOwn(manifest.schemas, file);
      report(location, isName ? `"${file}" is the name of a schema; write #/schemas/${file}` : reason);
      return true;
    }
    const source = { path: file, text };
    const { document, findings: syntax } = parse(source);
    texts.set(file, { document, source });
    for (const finding of syntax) findings.push(inFile(file, finding, finding.location));
    return syntax.length === 0 ? withoutId(document.value) : true;
  }

  function validTargets(root: SchemaRoot): Path[] {
    return [...references.values()].flatMap(({ target, location }) => {
      if (isSchema(valueAt(root, target))) return [target];
      const [, file, ...inside] = target;
      report(location, `the file "${file}" has no schema at "#${formatPointer(inside)}"`);
      return [];
    });
  }

  function report(location: Path, message: string): void {
    findings.push(relocate(errorAt(location, RULE, message)));
  }

  /** Adds the place in its file to a finding that is in none of the texts of the manifest. */
  function relocate(finding: Finding): Finding {
    const { location } = finding;
    const [first, file, ...inside] = 'path' in location ? location.path : [];
    if (first !== 'files' || !('path' in location)) return finding;
    return inFile(String(file), finding, { ...location, path: inside });
  }

  /** Moves a finding to the reference that led to a file, with its place in the file. */
  function inFile(file: string, { rule, severity, message }: Finding, where: FindingLocation): Finding {
    const location = { path: origins.get(file) ?? [], at: 'value' } as const;
    const { document, source } = texts.get(file) ?? {};
    if (document === undefined || source === undefined) return { rule, severity, message, location };
    return { rule, severity, message, location, inFile: { source, range: document.locate(where) } };
  }
}

/** Reads the schemas of a manifest that loads, and creates their validators. */
export function readSchemas(manifest: Manifest, readFile: Environment['readFile']) {
  const { root } = runToEnd(bundleSchemas(manifest, readFile, []));
  return { root, validatorAt: createSchemaValidators(root).validatorAt };
}

/** True if some `$ref` may lead to a file. Most manifests have none, and copying thousands of schemas takes time. */
function hasFileReference(holder: unknown, isFile: boolean): boolean {
  if (holder === null || typeof holder !== 'object') return false;
  const { $ref: reference } = holder as Record<string, unknown>;
  if (typeof reference === 'string' && (isFile || !reference.startsWith('#'))) return true;
  // Without closures: this reads every value of a manifest.
  if (Array.isArray(holder)) {
    for (const item of holder) if (hasFileReference(item, isFile)) return true;
  } else
    for (const key of Object.keys(holder))
      if (hasFileReference((holder as Record<string, unknown>)[key], isFile)) return true;
  return false;
}

/** True if a route has schemas: most have none, and there may be thousands of routes. */
function hasSchemas(route: Manifest['routes'][number] | null): boolean {
  return [route?.body, route?.params, route?.query, route?.headers].some((holder) => holder !== undefined);
}

/** Returns a function that is true for names and values of the manifest. Others in a client's body may be anything, even a secret. */
export function createManifestNameCheck(root: unknown): (name: string) => boolean {
  let names: Set<string> | undefined;
  return (name) => {
    // Created on first use: only routes with `validation: report` need it.
    if (names === undefined) {
      names = new Set(['params', 'query', 'headers']);
      collect(root, names);
    }
    return names.has(name);
  };
}

function collect(value: unknown, names: Set<string>): void {
  if (typeof value === 'string') names.add(value);
  if (value === null || typeof value !== 'object') return;
  for (const [key, inside] of Object.entries(value)) {
    if (!Array.isArray(value)) names.add(key);
    collect(inside, names);
  }
}

/** Returns the path in the root that a reference leads to, or a message about the reference. */
function targetOf(reference: string, base: string | undefined): Path | string {
  const [written = '', fragment = ''] = reference.split('#', 2);
  const steps = fragment === '' ? [] : referencePath(`#${fragment}`);
  if (steps === undefined) return `"${reference}" has no JSON Pointer after the #; write one such as #/$defs/Name`;
  const file = attempt(() => decodeURIComponent(written)) ?? written;
  const path = file === '' ? base : posix.normalize(posix.join(posix.dirname(base ?? '.'), file));
  if (path === undefined || path.startsWith('..') || /^\/|\\/.test(file))
    return `"${reference}" is not a file beside the manifest or below it; write its relative path`;
  return ['files', path, ...steps];
}

/** Removes the `$id` of a file. References here use paths, not ids. */
function withoutId(value: unknown): unknown {
  if (!isMap(value) || typeof value['$id'] !== 'string') return value;
  const { $id: _name, ...others } = value;
  return others;
}
