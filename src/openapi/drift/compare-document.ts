import { BODYLESS_METHODS } from '../../engine/http1/http-methods.ts';
import { load, type PlannedManifest } from '../../engine/load.ts';
import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Environment } from '../../engine/manifest/source.ts';
import type { FindingLocation, Path } from '../../engine/problem/finding.ts';
import { parsePattern } from '../../engine/routing/pattern.ts';
import { diff } from '../../prove/diff/diff-manifests.ts';
import type { Difference } from '../../prove/diff/difference.ts';
import { createDiffSide, type DiffSide } from '../../prove/diff/side.ts';
import type { ImportedRoutes } from '../import/import-openapi.ts';
import { type ImportedRoute, originOf } from '../import/imported-route.ts';
import { type OpenApiDocument, OpenApiError } from '../import/openapi-document.ts';
import { escapeVariables } from '../import/remove-refused.ts';

/** An OpenAPI document and the routes that serve it. */
interface ImportedDocument {
  readonly file: string;
  readonly document: OpenApiDocument;
  readonly imported: ImportedRoutes;
}

/**
 * Returns the differences from a document to a manifest with this environment, in the settings that OpenAPI has. Throws an `OpenApiError`
 * without routes, or if they do not load with the other settings.
 */
export function compareDocument(described: ImportedDocument, loaded: PlannedManifest, environment: Environment) {
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

/** Returns a manifest with only the operations of a document. Its other settings are those of the written route of each operation. */
function documentManifest(
  { routes, schemas }: ImportedRoutes,
  written: Readonly<Record<string, unknown>>,
  { manifest, plan }: Pick<PlannedManifest, 'manifest' | 'plan'>,
): object {
  // Routes that respond themselves have none.
  const { upstream = 'api' } = manifest.routes.find((route) => route.upstream !== undefined) ?? {};
  const entries = routes.map(({ entry }) => {
    const served = plan.router.match(String(entry['method']), samplePath(String(entry['path'])));
    const index = served === undefined ? -1 : plan.routes.indexOf(served);
    const route = (written['routes'] as RouteEntry[] | undefined)?.[index];
    return mergeEntry(renamed(entry), route, upstream);
  });
  const { include: _include, invariants: _invariants, lint: _lint, ...rest } = written;
  const own = Object.fromEntries([...schemas].map(([name, schema]) => [PREFIX + name, renamed(schema)]));
  const upstreams = { api: { url: 'http://127.0.0.1:9' }, ...(rest['upstreams'] as object) };
  return { ...rest, upstreams, schemas: { ...(rest['schemas'] as object), ...own }, routes: entries };
}

/** Keeps the schemas of the document apart from those of the manifest. */
const PREFIX = 'openapi.';

/** The texts of a document have no variables. */
function renamed<Value>(value: Value): Value {
  return JSON.parse(
    JSON.stringify(escapeVariables(value)).replaceAll('"$ref":"#/schemas/', `"$ref":"#/schemas/${PREFIX}`),
  ) as Value;
}

function samplePath(path: string): string {
  const texts = parsePattern(path).map((segment) => (segment.kind === 'literal' ? segment.text : 'x'));
  return `/${texts.join('/')}`;
}

/** Replaces the members of a route that OpenAPI describes. A rate limit may need a body that the document does not have. */
function mergeEntry(entry: Record<string, unknown>, route: RouteEntry | undefined, upstream: string): object {
  if (route?.upstream === undefined) return { ...entry, upstream };
  const { params: _params, query: _query, headers: _headers, rateLimits: _limits, ...settings } = route;
  const { body, websocket, roles, login, issuers, forward, ...others } = settings;
  const isPublic = entry['access'] === 'public';
  const documented = mergeBody(entry['body'] as RouteEntry['body'], body);
  return {
    ...others,
    ...(isPublic ? {} : { issuers, forward }),
    ...(login === undefined ? {} : { login }),
    ...(websocket === undefined || entry['method'] !== 'GET' ? {} : { websocket }),
    ...(roles === undefined || (isPublic && login === undefined) ? {} : { roles }),
    ...entry,
    upstream: route.upstream,
    ...(Object.keys(documented).length === 0 || BODYLESS_METHODS.has(String(entry['method']))
      ? {}
      : { body: documented }),
  };
}

type Body = NonNullable<RouteEntry['body']>;

/** Adds the limits of a body rule, and the columns of a CSV, which OpenAPI does not describe. */
function mergeBody(documented: Body | undefined, { maxBytes, multipart, csv }: Partial<Body> = {}): object {
  const limit = maxBytes === undefined ? {} : { maxBytes };
  if (documented === undefined) return limit;
  const { maxBytes: _limit, ...rules } = documented;
  const isCsv = csv !== undefined && documented.types?.join() === 'text/csv';
  const parts = Object.entries(documented.multipart?.parts ?? {}).map(([name, part]) => {
    const size =
      multipart !== undefined && Object.hasOwn(multipart.parts, name) ? multipart.parts[name]?.maxBytes : undefined;
    return [name, { ...part, ...(size === undefined ? {} : { maxBytes: size }) }];
  });
  return {
    ...limit,
    ...(isCsv ? { csv } : rules),
    ...(parts.length > 0 ? { multipart: { parts: Object.fromEntries(parts) } } : {}),
  };
}

/** The messages of `diff` describe a change, but a document is no earlier version of a manifest. */
const MATCHED: Readonly<Record<string, string>> = {
  'route-public': 'the route ROUTE is public, but the operation OPERATION is secured',
  'route-protected': 'the route ROUTE is protected, but the operation OPERATION is public',
  'route-narrowed': 'the route ROUTE does not receive all requests of the operation OPERATION',
  'route-added-public': 'the public route ROUTE receives requests that the operation OPERATION does not describe',
  'route-added': 'the protected route ROUTE receives requests that the operation OPERATION does not describe',
  'body-loosened': 'the route ROUTE accepts bodies that the operation OPERATION does not allow',
  'body-tightened': 'the route ROUTE refuses bodies that the operation OPERATION allows',
  'body-changed':
    'the route ROUTE and the operation OPERATION have different schemas for bodies, and no known request shows the effect',
  'media-types-widened': 'the route ROUTE accepts media types that the operation OPERATION does not list',
  'media-types-narrowed': 'the route ROUTE refuses media types that the operation OPERATION lists',
  'form-changed':
    'the route ROUTE and the operation OPERATION have different parts of forms, and the route accepts other ones',
  'form-added': 'the route ROUTE refuses forms that the operation OPERATION allows',
  'parameters-loosened': 'the route ROUTE accepts parameters that the operation OPERATION does not allow',
  'parameters-tightened': 'the route ROUTE refuses parameters that the operation OPERATION allows',
  'parameters-changed':
    'the route ROUTE and the operation OPERATION have different rules for parameters, and no known request shows the effect',
};

/** The kinds of differences about a route without an operation, or the reverse. */
const UNMATCHED_RULES: ReadonlySet<string> = new Set(['route-added', 'route-removed']);

/** The kinds of differences about settings that OpenAPI has. */
const DRIFT_RULES: ReadonlySet<string> = new Set([...Object.keys(MATCHED), ...UNMATCHED_RULES]);

/** Those about bodies. */
const BODY_RULES: ReadonlySet<string> = new Set(
  Object.keys(MATCHED).filter((rule) => /^(?:body|form|media-types)-/.test(rule)),
);

const UNMATCHED_ROUTE: Readonly<Record<string, string>> = {
  'route-added-public': 'the public route',
  'route-added': 'the route',
};

/** Returns a difference with a message for a document and a manifest. Other messages of `diff` stay. */
function withDriftMessage(difference: Difference): Difference {
  const message = messageOf(difference);
  return message === undefined ? difference : { ...difference, message };
}

function messageOf({ rule, counterpart: { oldId, nextId } }: Difference): string | undefined {
  if (oldId !== undefined && nextId !== undefined)
    return MATCHED[rule]?.replace('ROUTE', () => `"${nextId}"`).replace('OPERATION', () => `"${oldId}"`);
  if (rule === 'route-removed') return `no route receives the requests of the operation "${oldId}"`;
  const subject = UNMATCHED_ROUTE[rule];
  return subject && `${subject} "${nextId}" has no operation`;
}
