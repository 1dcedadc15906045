import { valueAt } from '../../engine/json-pointer.ts';
import { load } from '../../engine/load.ts';
import type { Finding, Path } from '../../engine/problem/finding.ts';
import { formOf } from '../../engine/schema/keywords.ts';
import {
  isMap,
  isSchema,
  type LocatedSchema,
  schemasOfRoute,
  schemasWithin,
  targetsIn,
} from '../../engine/schema/schema-walk.ts';
import { UNRESOLVED } from './convert-schema.ts';
import { type ImportedRoute, type ImportOptions, originOf } from './imported-route.ts';
import type { ReportLoss } from './openapi-document.ts';

/** Enough for documents whose every schema has several refused keywords. */
const MAX_ROUNDS = 200;

/** A part of an imported manifest that must be removed. */
interface RefusedPart {
  readonly path: Path;
  /** The reason, as the message of a loss. */
  readonly message: string;
}

/** Removes the parts of the components, named `schemas`, that the gateway refuses, and reports each as a loss at its path of `origins`. */
export function removeRefused(
  routes: readonly ImportedRoute[],
  schemas: Map<string, unknown>,
  origins: ReadonlyMap<string, Path>,
  options: ImportOptions,
  report: ReportLoss,
): ImportedRoute[] {
  const kept = [...routes];
  /** The components that accept more than in the document. */
  const loosened = new Set<string>();
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const parts = refusedParts(kept, schemas, options, loosened);
    if (parts.length === 0) return kept;
    const changed = new Set<unknown>();
    const failed = new Set<ImportedRoute>();
    // From the last to the first, because a removed item changes the indexes of those after it.
    for (const { path, message } of parts.toReversed()) {
      const [key, name = ''] = path;
      const part = path.slice(2);
      const route = key === 'routes' ? kept[Number(name)] : undefined;
      const component = String(name);
      const removed = removePart(route === undefined ? schemas.get(component) : route.entry, part);
      if (removed.length > 0) changed.add(route ?? component);
      for (const at of removed) {
        if (route !== undefined) report(originOf(route, at), 'looser', message);
        else report([...(origins.get(component) ?? []), ...at], 'looser', message);
        if (route === undefined && !hasNoEffect(at)) loosened.add(component);
      }
      if (route !== undefined && removed.length === 0) failed.add(route);
      else if (key === 'schemas' && removed.length === 0 && !changed.has(component)) {
        schemas.set(component, true);
        loosened.add(component);
        report(origins.get(component) ?? [], 'looser', message);
      }
    }
    for (const route of failed) {
      // Another finding may concern a part that is gone.
      if (changed.has(route)) continue;
      kept.splice(kept.indexOf(route), 1);
      report(route.origin, 'stricter', 'this operation has no route: the gateway refuses its path or its id');
    }
  }
  throw new Error('the imported routes do not load');
}

function refusedParts(
  routes: readonly ImportedRoute[],
  schemas: ReadonlyMap<string, unknown>,
  options: ImportOptions,
  loosened: ReadonlySet<string>,
): RefusedPart[] {
  if (routes.length === 0) return [];
  const located = [
    ...routes.flatMap(({ entry }, index) => schemasOfRoute(entry, ['routes', index])),
    ...[...schemas].flatMap(([name, schema]) => schemasWithin(schema, ['schemas', name])),
  ];
  const unresolved = located.flatMap(({ schema, at }) => unresolvedReference(schema, at));
  if (unresolved.length > 0) return unresolved;
  const errors = errorsOf(routes, schemas, options);
  return errors.length > 0 ? errors : looseConditions(located, schemas, loosened);
}

function unresolvedReference(schema: Readonly<Record<string, unknown>>, at: Path): RefusedPart[] {
  const reference = schema['$ref'];
  if (typeof reference !== 'string' || !reference.startsWith(UNRESOLVED)) return [];
  const text = JSON.stringify(reference.slice(UNRESOLVED.length));
  return [{ path: [...at, '$ref'], message: `the reference ${text} leads to no schema of this document` }];
}

function errorsOf(
  routes: readonly ImportedRoute[],
  schemas: ReadonlyMap<string, unknown>,
  { upstream }: ImportOptions,
): RefusedPart[] {
  const roles = routes.flatMap(({ entry: { roles } }) => (Array.isArray(roles) ? (roles as string[]) : []));
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
  const text = JSON.stringify(escapeVariables(manifest));
  const { findings } = load({ path: 'import', text }, { env: {}, readFile: () => '' });
  return findings.flatMap(({ severity, location, message }: Finding) =>
    severity === 'error' && 'path' in location
      ? [{ path: location.path, message: `this is not validated, because the gateway refuses it: ${message}` }]
      : [],
  );
}

/** Finds conditions and alternatives with a component that accepts more than in the document: they would refuse other values. */
function looseConditions(
  located: readonly LocatedSchema[],
  schemas: ReadonlyMap<string, unknown>,
  loosened: ReadonlySet<string>,
): RefusedPart[] {
  if (loosened.size === 0) return [];
  const references = [...schemas].map(([name, schema]) => [name, componentsIn(schema)] as const);
  const affected = new Set(loosened);
  for (let size = -1; size !== affected.size; ) {
    size = affected.size;
    for (const [name, others] of references) if (others.some((other) => affected.has(other))) affected.add(name);
  }
  return located.flatMap(({ schema, at }) =>
    Object.keys(schema)
      .filter((key) => COMBINED.has(key) || UNEVALUATED.has(key))
      .filter((key) =>
        partsOf(schema, key)
          .flatMap(componentsIn)
          .some((name) => affected.has(name)),
      )
      .map((key) => ({
        path: [...at, key],
        message: `${key} is not validated, because a schema that it depends on is not validated completely`,
      })),
  );
}

/** Returns the names of the components that a schema refers to. */
function componentsIn(schema: unknown): string[] {
  return targetsIn(schemasWithin(schema, [])).map(([, name]) => String(name));
}

function partsOf(schema: Readonly<Record<string, unknown>>, key: string): readonly unknown[] {
  const value = schema[key];
  if (UNEVALUATED.has(key)) return [schema];
  if (Array.isArray(value)) return value;
  return key === 'dependentSchemas' && isMap(value) ? Object.values(value) : [value];
}

/** In a manifest, `$${` is a literal `${`. Keys have no variables. */
export function escapeVariables<Value>(value: Value): Value {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${') as Value;
  if (Array.isArray(value)) return value.map(escapeVariables) as Value;
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, escapeVariables(member)])) as Value;
}

/**
 * Removes the value at a path, so that the rest accepts no less. Of a condition, an alternative or a list of values, removes all of
 * it: the rest would refuse other values. Returns the paths of the removed values; none if there is no such value.
 */
function removePart(root: unknown, path: Path): Path[] {
  const cut = hasNoEffect(path) ? -1 : findCombined(path);
  const list = path.at(-2);
  const isListed = cut === -1 && VALUE_LISTS.has(String(list)) && Array.isArray(valueAt(root, path.slice(0, -1)));
  const target = cut !== -1 ? path.slice(0, cut + 1) : isListed ? path.slice(0, -1) : path;
  const [last] = target.slice(-1);
  const holder = valueAt(root, target.slice(0, -1));
  if (last === undefined || typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, last)) return [];
  if (ROUTE_KEYS.has(String(last)) && target.length === 1) return [];
  const members = holder as Record<string | number, unknown>;
  // A missing name could be refused by additionalProperties, and a missing alternative by the others.
  if (HELD.has(String(target.at(-2))) && !isSchema(members[last])) members[last] = {};
  else if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else delete members[last];
  return [target, ...(hasNoEffect(target) ? [] : removeDependent(root, target))];
}

/** Removes the keywords that apply to the members and items which the value at a path, now removed, has selected. */
function removeDependent(root: unknown, path: Path): Path[] {
  const removed: Path[] = [];
  for (let length = path.length - 1; length >= 0; length -= 1) {
    const at = path.slice(0, length);
    const schema = formOf(String(at.at(-1))) === 'schemas by name' ? undefined : valueAt(root, at);
    const isPattern = path[length] === 'patternProperties' && length === path.length - 2;
    for (const key of [...UNEVALUATED, ...(isPattern ? ['additionalProperties'] : [])])
      if (isMap(schema) && Object.hasOwn(schema, key)) {
        delete schema[key];
        removed.push([...at, key]);
      }
  }
  return removed;
}

/** Returns the index of the first step of a path that is such a keyword, and not a name that the author chose. */
function findCombined(path: Path): number {
  let isName = false;
  return path.findIndex((step) => {
    const form = formOf(String(step));
    const isKeyword = !isName && COMBINED.has(String(step));
    isName = !isName && (step === 'parts' || form === 'schemas by name' || form === 'names by name');
    return isKeyword;
  });
}

/** True for keywords that refuse no value by JSON Schema, such as an unknown format. */
function hasNoEffect(path: Path): boolean {
  return NO_EFFECT.test(String(path.at(-1)));
}

/** Without one of its parts, such a keyword would refuse other values. */
const COMBINED = new Set(['not', 'oneOf', 'if', 'contains', 'dependentSchemas', 'propertyNames']);
const UNEVALUATED = new Set(['unevaluatedProperties', 'unevaluatedItems']);
const VALUE_LISTS = new Set(['enum', 'type', 'types']);
const HELD = new Set(['properties', 'anyOf', 'allOf', 'prefixItems']);
const NO_EFFECT = /^(?:format|contentEncoding|contentMediaType|contentSchema|\$anchor|\$dynamicAnchor)$/;
const ROUTE_KEYS = new Set(['id', 'method', 'path', 'upstream', 'access']);
