import { BODYLESS_METHODS } from '../../engine/http1/http-methods.ts';
import type { Manifest, RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { parsePattern } from '../../engine/routing/pattern.ts';
import type { ImportedRoutes } from '../import/import-openapi.ts';
import { escapeVariables } from '../import/remove-refused.ts';

/** A manifest with its plan. */
interface RoutedManifest {
  readonly manifest: Manifest;
  readonly plan: Plan;
}

/**
 * Returns a manifest that serves the operations of a document, and nothing else. Settings that OpenAPI does not have, such as
 * upstreams and rate limits, are those of the route that serves the operation in another manifest.
 *
 * @param written the values of the other manifest as in its file
 */
export function documentManifest(
  { routes, schemas }: ImportedRoutes,
  written: Readonly<Record<string, unknown>>,
  { manifest, plan }: RoutedManifest,
): object {
  const [fallback] = manifest.routes;
  const entries = routes.map(({ entry }) => {
    const served = plan.router.match(String(entry['method']), samplePath(String(entry['path'])));
    const index = served === undefined ? -1 : plan.routes.indexOf(served);
    const route = (written['routes'] as RouteEntry[] | undefined)?.[index];
    return mergeEntry(renamed(entry), route, fallback?.upstream ?? '');
  });
  const { include: _include, invariants: _invariants, lint: _lint, ...rest } = written;
  const own = Object.fromEntries([...schemas].map(([name, schema]) => [PREFIX + name, renamed(schema)]));
  return { ...rest, schemas: { ...(rest['schemas'] as object), ...own }, routes: entries };
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
  if (route === undefined) return { ...entry, upstream };
  const { params: _params, query: _query, headers: _headers, rateLimits: _limits, ...settings } = route;
  const { body, websocket, roles, login, ...others } = settings;
  const isPublic = entry['access'] === 'public';
  const documented = mergeBody(entry['body'] as RouteEntry['body'], body);
  return {
    ...others,
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
