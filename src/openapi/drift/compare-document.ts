import { BODYLESS_METHODS } from '../../engine/http1/http-methods.ts';
import { load, type PlannedManifest } from '../../engine/load.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import type { FindingLocation, Path } from '../../engine/problem/finding.ts';
import { diff } from '../../prove/diff/diff-manifests.ts';
import type { Difference } from '../../prove/diff/difference.ts';
import { createDiffSide, type DiffSide } from '../../prove/diff/side.ts';
import type { ImportedRoutes } from '../import/import-openapi.ts';
import { type ImportedRoute, originOf } from '../import/imported-route.ts';
import { type OpenApiDocument, OpenApiError } from '../import/openapi-document.ts';
import { documentManifest } from './document-manifest.ts';
import { BODY_RULES, DRIFT_RULES, UNMATCHED_RULES, withDriftMessage } from './drift-messages.ts';

/** An OpenAPI document and the routes that serve it. */
interface ImportedDocument {
  readonly file: string;
  readonly document: OpenApiDocument;
  readonly imported: ImportedRoutes;
}

/**
 * Returns the differences from a document to a manifest, in the settings that OpenAPI has. Throws an `OpenApiError` if the document has
 * no routes, or routes that do not load with the other settings of the manifest.
 *
 * @param environment that of the manifest
 */
export function compareDocument(
  described: ImportedDocument,
  loaded: PlannedManifest,
  environment: Environment,
): Difference[] {
  const next = createDiffSide(loaded, environment.readFile);
  const old = documentSide(described, loaded, environment);
  const methods = new Map(described.imported.routes.map(({ entry }) => [entry['id'], entry['method']]));
  return diff(old, next)
    .filter(({ rule, counterpart: { oldId }, witness }) => {
      // A document does not describe the body of GET, but a route may have one for its other methods.
      const isBodyless = BODY_RULES.has(rule) && BODYLESS_METHODS.has(String(methods.get(oldId)));
      // Another spelling of a path: no path of a route has a semicolon, and no document describes path folding.
      const isSpelling = witness?.request?.url.includes(';') === true;
      // The route, or the operation, receives no requests.
      const isUnreached = UNMATCHED_RULES.has(rule) && witness === undefined;
      return DRIFT_RULES.has(rule) && !isBodyless && !isSpelling && !isUnreached;
    })
    .map(withDriftMessage);
}

/** Returns the document as a side of a comparison, with the places of its operations. */
function documentSide(
  { file, document, imported }: ImportedDocument,
  loaded: PlannedManifest,
  environment: Environment,
): DiffSide {
  if (imported.routes.length === 0) throw new OpenApiError(`${file} has no operation that a route can serve`);
  const text = JSON.stringify(
    documentManifest(imported, loaded.document.value as Readonly<Record<string, unknown>>, loaded),
  );
  const planned = load({ path: file, text }, environment, loaded.plan);
  if (planned.plan === undefined)
    throw new OpenApiError(`${file} cannot be compared with ${loaded.document.file}: ${planned.problems[0]?.message}`);
  const locate = (where: FindingLocation) => {
    const [key, index, ...rest] = 'path' in where ? where.path : [];
    const route = key === 'routes' ? imported.routes[Number(index)] : undefined;
    return route === undefined ? document.locate(['paths'], 'key') : document.locate(operationPart(route, rest));
  };
  return createDiffSide(
    { ...planned, document: { ...planned.document, fileOf: () => file, locate } },
    environment.readFile,
  );
}

/** The members of an operation that state a key of its route. */
const MEMBERS: Readonly<Record<string, string>> = {
  access: 'security',
  roles: 'security',
  body: 'requestBody',
  params: 'parameters',
  query: 'parameters',
  headers: 'parameters',
};

/** Returns the path in the document of a part of a route. The importer records only the places of schemas. */
function operationPart(route: ImportedRoute, rest: Path): Path {
  const [key = ''] = rest;
  if (key === 'body' && route.origins.has('body/schema')) return originOf(route, ['body', 'schema']);
  const member = MEMBERS[key];
  return rest.length === 1 && member !== undefined ? [...route.origin, member] : originOf(route, rest);
}
