import { load } from '../load.ts';
import { valueAt } from '../plan/schema/schema-walk.ts';
import type { Finding, Path } from '../problem/finding.ts';
import type { ImportedRoute, ImportOptions, ReportLoss } from './imported-route.ts';

/** Enough for documents whose every schema has several refused keywords. */
const MAX_ROUNDS = 200;

/**
 * Removes the parts that the gateway refuses, such as a pattern without linear time, and reports each as a loss. The rest loads.
 *
 * @param schemas the components by name; changed in place
 * @param origins the paths of the components in the document
 */
export function removeRefused(
  routes: readonly ImportedRoute[],
  schemas: Map<string, unknown>,
  origins: ReadonlyMap<string, Path>,
  options: ImportOptions,
  report: ReportLoss,
): ImportedRoute[] {
  const kept = [...routes];
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const errors = errorsOf(kept, schemas, options);
    if (errors.length === 0) return kept;
    const removed = new Set<ImportedRoute>();
    for (const { path, message } of errors) {
      const [key, name = ''] = path;
      const route = key === 'routes' ? kept[Number(name)] : undefined;
      if (route !== undefined) {
        if (removePart(route.entry, path.slice(2))) report(originOf(route, path.slice(2)), 'looser', lost(message));
        else removed.add(route);
      } else if (key === 'schemas' && path.length === 2) {
        schemas.set(String(name), true);
        report(origins.get(String(name)) ?? [], 'looser', lost(message));
      } else if (key === 'schemas' && removePart(schemas.get(String(name)), path.slice(2)))
        report([...(origins.get(String(name)) ?? []), ...path.slice(2)], 'looser', lost(message));
    }
    for (const route of removed) {
      kept.splice(kept.indexOf(route), 1);
      report(route.origin, 'stricter', 'this operation has no route: the gateway refuses its path or its id');
    }
  }
  throw new Error('the imported routes do not load');
}

function lost(message: string): string {
  return `this is not validated, because the gateway refuses it: ${message}`;
}

function errorsOf(
  routes: readonly ImportedRoute[],
  schemas: ReadonlyMap<string, unknown>,
  { upstream }: ImportOptions,
): { readonly path: Path; readonly message: string }[] {
  const roles = routes.flatMap(({ entry }) => (entry['roles'] as string[] | undefined) ?? []);
  const manifest = {
    version: 1,
    upstreams: { [upstream]: { url: 'http://127.0.0.1:1' } },
    auth: {
      tokens: { jwt: { jwks: 'https://127.0.0.1/keys', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
      role: { claim: '/role', allow: [...new Set(['none', ...roles])], message: 'no' },
    },
    schemas: Object.fromEntries(schemas),
    routes: routes.map(({ entry }) => entry),
  };
  if (routes.length === 0) return [];
  const text = escapeVariables(JSON.stringify(manifest));
  const { findings } = load({ path: 'import', text }, { env: {}, readFile: () => '' });
  return findings.flatMap(({ severity, location, message }: Finding) =>
    severity === 'error' && 'path' in location ? [{ path: location.path, message }] : [],
  );
}

/** In a manifest, `$${` is a literal `${`. */
export function escapeVariables(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Removes the value at a path. Of a condition or an alternative, removes all of it: the rest would mean something else. */
function removePart(root: unknown, path: Path): boolean {
  const cut = path.findIndex((step) => COMBINED.has(String(step)));
  const target = cut === -1 ? path : path.slice(0, cut + 1);
  const [last] = target.slice(-1);
  const holder = valueAt(root, target.slice(0, -1));
  if (last === undefined || typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, last)) return false;
  if (ROUTE_KEYS.has(String(last)) && target.length === 1) return false;
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete (holder as Record<string, unknown>)[last];
  return true;
}

/** Without one of its parts, such a keyword would refuse other values. */
const COMBINED = new Set(['not', 'oneOf', 'if', 'contains', 'dependentSchemas', 'propertyNames']);
const ROUTE_KEYS = new Set(['id', 'method', 'path', 'upstream', 'access']);

/** Returns the place in the document of a part of a route. */
export function originOf({ origin, origins }: ImportedRoute, path: Path): Path {
  for (let length = path.length; length > 0; length -= 1) {
    const found = origins.get(path.slice(0, length).join('/'));
    if (found !== undefined) return [...found, ...path.slice(length)];
  }
  return origin;
}
