import type { Path } from '../../engine/problem/finding.ts';
import type { SchemaConverter } from './convert-schema.ts';
import type { OpenApiDocument, ReportLoss } from './openapi-document.ts';

/** Settings for the parts that a document leaves open. */
export interface ImportOptions {
  readonly upstream: string;
  /** A path before all others: `/api`. May be empty. */
  readonly prefix: string;
  /** The access of operations without `security`, in a document without `security`. */
  readonly access: 'public' | 'protected';
  /** The roles that stand for OAuth scopes. */
  readonly roles: ReadonlyMap<string, string>;
}

/** One operation, with the members of its path item. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly item: Readonly<Record<string, unknown>>;
  readonly origin: Path;
  readonly itemOrigin: Path;
  /** The places of the parts of its route in the document, by their paths in the route: `body/schema`. */
  readonly origins: Map<string, Path>;
}

/** The document and the settings, for the conversion of an operation. */
export interface ImportContext {
  readonly document: OpenApiDocument;
  readonly converter: SchemaConverter;
  readonly report: ReportLoss;
  readonly options: ImportOptions;
}

/** One route, with the place of its operation in the document. */
export interface ImportedRoute extends Pick<Operation, 'origin' | 'origins'> {
  /** The members of a route, in the order of the manifest. */
  readonly entry: Record<string, unknown>;
  /** A line that describes the operation; may be empty. */
  readonly comment: string;
}

/** Returns the name of a path parameter in a manifest: `user-id` becomes `user_id`. */
export function parameterName(name: string): string {
  return name.replaceAll(/\W/g, '_').replace(/^(?=\d)/, '_');
}

/** Returns the place in the document of a part of a route. */
export function originOf({ origin, origins }: ImportedRoute, path: Path): Path {
  for (let length = path.length; length > 0; length -= 1) {
    const found = origins.get(path.slice(0, length).join('/'));
    if (found !== undefined) return [...found, ...path.slice(length)];
  }
  return origin;
}
