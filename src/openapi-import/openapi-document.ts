import { UpgradeIncompatibilityError, upgrade } from '@scalar/openapi-upgrader';
import { type Document, parse } from '../manifest/document.ts';
import type { Source } from '../manifest/source.ts';
import { isMap, referencePath, valueAt } from '../plan/schema/schema-walk.ts';
import type { Path, Range } from '../problem/finding.ts';

/** An OpenAPI document as version 3.1, with the places of its values in the original text. */
export interface OpenApiDocument {
  readonly value: Readonly<Record<string, unknown>>;
  /** Returns the value at a reference into the document: `#/components/parameters/Page`, and its path. */
  readonly resolve: (reference: string) => { readonly value: unknown; readonly path: Path } | undefined;
  /** Returns the place of a value, or of the nearest one around it that the original text has. */
  readonly locate: (path: Path, at?: 'key' | 'value') => Range;
}

/** The text is no OpenAPI document. The message says why. */
export class OpenApiError extends Error {}

/** Reads an OpenAPI document of version 2.0, 3.0 or 3.1, in YAML or JSON. Throws an `OpenApiError` for any other text. */
export function readOpenApi(source: Source): OpenApiDocument {
  const { document, findings } = parse({ ...source, text: quoteStatusKeys(source.text) }, Number.POSITIVE_INFINITY);
  const [finding] = findings;
  if (finding !== undefined) {
    const { line, column } = document.locate(finding.location);
    throw new OpenApiError(`${source.path}:${line}:${column} ${finding.message}`);
  }
  const original = document.value;
  if (!isMap(original) || !isMap(original['paths'] ?? {}) || !VERSION.test(versionOf(original)))
    throw new OpenApiError(`${source.path} is not an OpenAPI document of version 2.0, 3.0 or 3.1`);
  const value = upgradeDocument(original, source.path);
  return {
    value,
    resolve: (reference) => {
      const path = referencePath(reference);
      const found = path && valueAt(value, path);
      return path === undefined || found === undefined ? undefined : { value: found, path };
    },
    locate: (path, at = 'value') => locateIn(document, path, at),
  };
}

/** The keys of responses are often written as numbers, and those of a manifest are texts. */
function quoteStatusKeys(text: string): string {
  return text.replaceAll(/^(\s*|.*[{,]\s*)([1-5]\d\d)(?=\s*:(?:\s|$))/gm, '$1"$2"');
}

const VERSION = /^(?:2\.0|3\.[01](?:\.\d+)?)$/;

function versionOf(value: Readonly<Record<string, unknown>>): string {
  return String(value['swagger'] ?? value['openapi'] ?? '').replace(/^2$/, '2.0');
}

function upgradeDocument(original: Readonly<Record<string, unknown>>, file: string) {
  try {
    const upgraded: unknown = upgrade(structuredClone(original), '3.1');
    if (isMap(upgraded)) return upgraded;
  } catch (error) {
    if (!(error instanceof UpgradeIncompatibilityError || error instanceof TypeError)) throw error;
  }
  throw new OpenApiError(`${file} cannot be converted to OpenAPI 3.1; its structure is not that of its version`);
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
  return MOVED.flatMap(([from, to]) =>
    from.every((step, index) => step === path[index]) ? [[...to, ...path.slice(from.length)]] : [],
  );
}
