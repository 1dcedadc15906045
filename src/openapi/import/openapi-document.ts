import { upgrade } from '@scalar/openapi-upgrader';
import { applyEdits } from '../../check/lint/fix-text.ts';
import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';
import { isWithin, valueAt } from '../../engine/json-pointer.ts';
import { type Document, parse } from '../../engine/manifest/document.ts';
import type { Source } from '../../engine/manifest/source.ts';
import type { Finding, Path, Range } from '../../engine/problem/finding.ts';
import { isMap, referencePath } from '../../engine/schema/schema-walk.ts';

export interface LocatedValue {
  readonly value: unknown;
  readonly path: Path;
}

/** An OpenAPI document as version 3.0, 3.1 or 3.2, with the places of its values in the original text. */
export type OpenApiDocument = ReturnType<typeof readOpenApi>;

/** A part of an OpenAPI document that the routes do not express. */
export interface Loss {
  /** Its place in the document of version 3. */
  readonly path: Path;
  /** `looser`: the gateway accepts what the document does not. `stricter`: it refuses what the document accepts. */
  readonly effect: 'looser' | 'stricter' | 'none';
  /** A sentence in lower case and without a full stop. */
  readonly message: string;
}

export type ReportLoss = (path: Path, effect: Loss['effect'], message: string) => void;

/** A document cannot be read, or not be compared with a manifest. The message says why. */
export class OpenApiError extends Error {}

/** Reads an OpenAPI document of version 2.0, 3.0, 3.1 or 3.2, in YAML or JSON. Throws an `OpenApiError` for any other text. */
export function readOpenApi(source: Source) {
  const document = parseDocument(source);
  const original = source.text.includes('<<') ? mergeMaps(document.value) : document.value;
  const version = isMap(original) ? versionOf(original) : '';
  if (!isMap(original) || !isMap(original['paths'] ?? {}) || !VERSION.test(version))
    throw new OpenApiError(`${source.path} is not an OpenAPI document of version 2.0, 3.0, 3.1 or 3.2`);
  const value = version === '2.0' ? upgradeDocument(original, source.path) : original;
  const resolve = (reference: string): LocatedValue | undefined => {
    const path = referencePath(reference);
    const found = path && valueAt(value, path);
    return path === undefined || found === undefined ? undefined : { value: found, path };
  };
  return {
    value,
    /** True for versions 2.0 and 3.0: `nullable` has an effect there, and the members beside `$ref` have none. */
    hasOldSchemas: !/^3\.[12]/.test(version),
    /** Returns the value at a reference into the document: `#/components/parameters/Page`, and its path. */
    resolve,
    /** Follows the `$ref` of a value, and those behind it. Returns `undefined` if one leads nowhere. */
    follow: (written: unknown, place: Path): LocatedValue | undefined => {
      let found: LocatedValue | undefined = { value: written, path: place };
      for (let count = 0; count < MAX_REFERENCES; count += 1) {
        const reference: unknown = isMap(found?.value) ? found.value['$ref'] : undefined;
        if (typeof reference !== 'string') return found;
        found = resolve(reference);
      }
      return undefined;
    },
    /** Returns the place of a value, or of the nearest one around it that the original text has. */
    locate: (path: Path, at: 'key' | 'value' = 'value') => locateIn(document, path, at),
  };
}

const MAX_REFERENCES = 32;
const MAX_ROUNDS = 8;

function parseDocument(source: Source): Document {
  const read = (text: string) => parse({ ...source, text }, Number.POSITIVE_INFINITY);
  let { text } = source;
  let { document, findings } = read(text);
  // The keys of responses are often written as numbers, and those of a manifest are texts. A manifest has no merge keys: the parser
  // reads the value of one only if the key has quotes.
  for (let round = 0; round < MAX_ROUNDS && findings.some((finding) => needsQuotes(finding, text)); round += 1) {
    text = quote(findings, text);
    ({ document, findings } = read(text));
  }
  const [finding] = findings;
  if (finding === undefined) return document;
  const { line, column } = document.locate(finding.location);
  throw new OpenApiError(`${source.path}:${line}:${column} ${finding.message}`);
}

function needsQuotes({ location }: Finding, text: string): boolean {
  return 'start' in location && /^(?:\d+|<<)$/.test(text.slice(location.start, location.end));
}

function quote(findings: readonly Finding[], text: string): string {
  const edits = findings
    .filter((finding) => needsQuotes(finding, text))
    .flatMap(({ location }) => ('start' in location ? [location] : []))
    .map(({ start, end }) => [start, { start, end, text: `"${text.slice(start, end)}"` }] as const);
  // A key behind several aliases has several findings.
  const distinct = [...new Map(edits).values()];
  return applyEdits(
    text,
    distinct.sort((a, b) => a.start - b.start),
  );
}

/** Returns a value with the members of merge keys (YAML 1.1). Members of a map replace those, and earlier maps replace later ones. */
function mergeMaps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mergeMaps);
  if (!isMap(value)) return value;
  const { '<<': merged = [], ...own } = value;
  const maps = [merged].flat().map(mergeMaps);
  if (!maps.every(isMap)) throw new OpenApiError('a merge key ("<<") needs a map or a list of maps');
  const members = Object.entries(own).map(([key, member]) => [key, mergeMaps(member)] as const);
  return Object.fromEntries([...maps.toReversed().flatMap((map) => Object.entries(map)), ...members]);
}

const VERSION = /^(?:2\.0|3\.[012](?:\.\d+)?)$/;

/** Without quotes, YAML reads 2.0 as 2 and 3.0 as 3. */
function versionOf(value: Readonly<Record<string, unknown>>): string {
  return String(value['swagger'] ?? value['openapi'] ?? '').replace(/^[23]$/, '$&.0');
}

/** Converts a document of version 2.0 to 3.0. */
function upgradeDocument(original: Readonly<Record<string, unknown>>, file: string) {
  try {
    const copy: Record<string, unknown> = { ...structuredClone(original), swagger: '2.0' };
    inlineBodyParameters(copy);
    const upgraded: unknown = upgrade(copy, '3.0');
    if (isMap(upgraded)) return upgraded;
  } catch {
    // The upgrade throws plain errors, and reads members of values that are no maps.
  }
  throw new OpenApiError(`${file} cannot be converted to OpenAPI 3.0; its structure is not that of its version`);
}

/** The upgrade moves some members of version 2.0. */
const MOVED: readonly (readonly [from: Path, to: Path])[] = [
  [['components', 'schemas'], ['definitions']],
  [['components', 'parameters'], ['parameters']],
  [['components', 'securitySchemes'], ['securityDefinitions']],
];

function locateIn(document: Document, path: Path, at: 'key' | 'value'): Range {
  for (let length = path.length; length > 0; length -= 1) {
    const part = path.slice(0, length);
    const place = [part, ...originalsOf(part)].find((one) => valueAt(document.value, one) !== undefined);
    if (place !== undefined) return document.locate({ path: place, at });
  }
  return document.locate({ path: [], at: 'value' });
}

function originalsOf(path: Path): Path[] {
  return MOVED.flatMap(([from, to]) => (isWithin(path, from) ? [[...to, ...path.slice(from.length)]] : []));
}

type Members = Record<string, unknown>;

/**
 * Moves the body parameters of paths and components of a document of version 2.0 to its operations, because the upgrade loses some of them.
 * Removes the extensions of paths, which the upgrade takes for operations.
 */
function inlineBodyParameters(document: Members): void {
  for (const parameter of membersOf(document['parameters'])) setListStyle(parameter);
  for (const item of membersOf(document['paths'])) {
    for (const key of Object.keys(item)) if (key.startsWith('x-')) delete item[key];
    const shared = readParameters(item, document);
    const bodies = shared.filter(isBody);
    if (bodies.length > 0) item['parameters'] = shared.filter((parameter) => !isBody(parameter));
    for (const method of HTTP_METHODS) {
      const operation = item[method.toLowerCase()];
      if (!isMap(operation)) continue;
      const own = readParameters(operation, document);
      const inherited = bodies.filter((body) => !own.some((other) => replaces(other, body)));
      if (own.length + inherited.length > 0) operation['parameters'] = [...own, ...structuredClone(inherited)];
    }
  }
}

function membersOf(map: unknown): Members[] {
  return isMap(map) ? Object.values(map).filter(isMap) : [];
}

/** Returns the parameters of a path or of an operation, with the body parameters in place of references to them. */
function readParameters(holder: Members, document: Members): unknown[] {
  const list = Array.isArray(holder['parameters']) ? (holder['parameters'] as unknown[]) : [];
  return list.map((written) => {
    const reference = isMap(written) ? written['$ref'] : undefined;
    const target = valueAt(document, (typeof reference === 'string' && referencePath(reference)) || []);
    if (isMap(written)) setListStyle(written);
    return isBody(target) ? structuredClone(target) : written;
  });
}

function isBody(parameter: unknown): parameter is Members {
  return isMap(parameter) && (parameter['in'] === 'body' || parameter['in'] === 'formData');
}

function replaces(other: unknown, body: Members): boolean {
  return isBody(other) && (other['in'] === 'body' || body['in'] === 'body' || other['name'] === body['name']);
}

const LIST_STYLES = new Set([undefined, 'csv', 'ssv', 'pipes', 'multi']);

/** The upgrade takes a list in another style for one with a parameter for each item. */
function setListStyle(parameter: Members): void {
  if (!LIST_STYLES.has(parameter['collectionFormat'] as string)) parameter['collectionFormat'] = 'csv';
}
