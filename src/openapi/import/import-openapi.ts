import { HTTP_METHODS } from '../../engine/http1/http-methods.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { parsePattern, patternKey, readPattern } from '../../engine/routing/pattern.ts';
import { isMap, referenceTo } from '../../engine/schema/schema-walk.ts';
import { ANY_ROLE } from '../../engine/tokens/token-entries.ts';
import { bodyRuleOf } from './body-rule.ts';
import { createSchemaConverter } from './convert-schema.ts';
import {
  type ImportContext,
  type ImportedRoute,
  type ImportOptions,
  type Operation,
  parameterName,
} from './imported-route.ts';
import type { Loss, OpenApiDocument, ReportLoss } from './openapi-document.ts';
import { parameterRulesOf } from './parameter-rules.ts';
import { removeRefused } from './remove-refused.ts';

export interface ImportedRoutes {
  readonly routes: readonly ImportedRoute[];
  readonly schemas: ReadonlyMap<string, unknown>;
  readonly losses: readonly Loss[];
}

/** Converts the operations of an OpenAPI document to routes that load, in the order of the document. */
export function importOpenApi(document: OpenApiDocument, options: ImportOptions): ImportedRoutes {
  const losses = new Map<string, Loss>();
  const report: ReportLoss = (path, effect, message) => {
    const loss = { path, effect, message };
    losses.set(JSON.stringify(loss), loss);
  };
  const converter = createSchemaConverter(document, report);
  const routes = [...operationsOf(document, report)].flatMap((operation) =>
    toRoute(operation, { document, converter, report, options }),
  );
  reportUnusedMembers(document, options, report);
  const schemas = new Map([...converter.schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  const kept = removeRefused(withUniqueIds(withoutTwins(routes, report)), schemas, converter.origins, options, report);
  return { routes: kept, schemas, losses: [...losses.values()] };
}

const METHODS = new Map(HTTP_METHODS.map((method) => [method.toLowerCase(), method]));

function* operationsOf(document: OpenApiDocument, report: ReportLoss): Generator<Operation> {
  const { paths } = document.value;
  for (const [path, written] of Object.entries(isMap(paths) ? paths : {})) {
    if (path.startsWith('x-')) continue;
    const place = ['paths', path];
    const target = document.follow(written, place);
    if (target === undefined || !isMap(target.value)) {
      report(place, 'stricter', 'this path item cannot be read; its operations have no route');
      continue;
    }
    // Members beside a reference add to those of its path item.
    const beside: Readonly<Record<string, unknown>> = isMap(written) ? written : {};
    const placeOf = (key: string) => (Object.hasOwn(beside, key) ? place : target.path);
    const item = { ...target.value, ...beside };
    for (const [key, value] of Object.entries(item)) {
      const method = METHODS.get(key);
      const origin = [...placeOf(key), key];
      if (method !== undefined && isMap(value))
        yield { method, path, value, item, origin, itemOrigin: placeOf('parameters'), origins: new Map() };
      else if (METHODS.has(key.toLowerCase()))
        report(
          origin,
          'stricter',
          'this operation cannot be read, and has no route; write a map at a method in lower case',
        );
      else if (key === 'trace') report(origin, 'stricter', 'the gateway refuses the method TRACE');
      else if (key === 'query') report(origin, 'stricter', 'no route can have the method QUERY');
      else if (key === 'additionalOperations')
        for (const name of Object.keys(isMap(value) ? value : {}))
          report([...origin, name], 'stricter', `no route can have the method ${name}`);
      else if (key === 'servers')
        report(origin, 'none', 'servers of a path are not used; set the upstream of its routes');
    }
  }
}

function toRoute(operation: Operation, context: ImportContext): ImportedRoute[] {
  const { method, value, origin, itemOrigin, origins } = operation;
  const { report, options } = context;
  // HEAD beside GET of any rest is that of another route for any rest: both have the same paths.
  const rest = restName(operation) ?? (method === 'HEAD' ? restOfGet(operation) : undefined);
  const path = routePath(options.prefix + operation.path, rest);
  const refuse = (message: string) => report(itemOrigin, 'stricter', `the path has no route: ${message}`);
  if (!operation.path.startsWith('/')) refuse('a path begins with a slash');
  if (!operation.path.startsWith('/') || readPattern(path, refuse) === undefined) return [];
  if (value['callbacks'] !== undefined)
    report([...origin, 'callbacks'], 'none', 'callbacks are requests of the upstream, which the gateway does not see');
  if (value['servers'] !== undefined)
    report([...origin, 'servers'], 'none', 'servers of an operation are not used; set the upstream of its route');
  for (const [name, [effect, message]] of Object.entries(NOT_READ))
    if (value[name] !== undefined) report([...origin, name], effect, message);
  const entry = {
    id: idOf(operation),
    method,
    path,
    upstream: options.upstream,
    ...accessOf(operation, context),
    ...parameterRulesOf(operation, context),
    ...bodyRuleOf(operation, context),
    ...(value['x-validation'] === 'report' && { validation: 'report' }),
  };
  const route = { entry, origin, comment: commentOf(value), origins };
  // The route of GET also receives HEAD, and a path with one segment is more specific than one with any rest.
  const isOneSegmentOfGet =
    method === 'HEAD' && rest !== undefined && isMap(operation.item['get']) && restOfGet(operation) === undefined;
  if (!isOneSegmentOfGet) return [route];
  return [
    { ...route, entry: { ...structuredClone(entry), path: routePath(options.prefix + operation.path, undefined) } },
    route,
  ];
}

/** Returns the name of the parameter that stands for any rest of the path, in a document of the gateway. */
function restName({ value, item }: Pick<Operation, 'value' | 'item'>): string | undefined {
  const parameters = [item['parameters'], value['parameters']].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  const rest = parameters.find(
    (parameter) => isMap(parameter) && parameter['in'] === 'path' && parameter['x-rest'] === true,
  );
  return isMap(rest) && typeof rest['name'] === 'string' ? rest['name'] : undefined;
}

function restOfGet({ item }: Operation): string | undefined {
  const { get } = item;
  return isMap(get) ? restName({ value: get, item }) : undefined;
}

/** The router ignores a trailing slash, and accepts fewer characters in names. */
function routePath(path: string, rest: string | undefined): string {
  const whole = rest !== undefined && path.endsWith(`/{${rest}}`) ? `${path.slice(0, -rest.length - 2)}**` : path;
  const named = whole.replaceAll(/\{([^{}/]*)\}/g, (_all, name: string) => `{${parameterName(name)}}`);
  return named.length > 1 ? named.replace(/\/+$/, '') || '/' : named;
}

function idOf({ method, path, value }: Operation): string {
  const { operationId } = value;
  const text = typeof operationId === 'string' && /[A-Za-z]/.test(operationId) ? operationId : `${method} ${path}`;
  const words = text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  return words.join('-').replace(/^(?=\d)/, 'r');
}

function commentOf({ summary, description }: Operation['value']): string {
  const text = [summary, description].find((one) => typeof one === 'string' && one.trim() !== '');
  const line = typeof text === 'string' ? (text.trim().split(/[\n\r]/)[0] ?? '') : '';
  // A foreign document must not disable lint rules, or name another schema for editors.
  return DIRECTIVE.test(line) ? '' : line.slice(0, MAX_COMMENT);
}

const DIRECTIVE = /gateway-disable|yaml-language-server|\$schema/i;

const MAX_COMMENT = 120;

/** Two paths that the router cannot tell apart give one route. */
function withoutTwins(routes: readonly ImportedRoute[], report: ReportLoss): ImportedRoute[] {
  const keys = new Set<string>();
  return routes.filter(({ entry, origin }) => {
    const key = `${entry['method']} ${patternKey(parsePattern(String(entry['path'])))}`;
    if (keys.has(key))
      report(origin, 'stricter', 'another operation has the same method and path; this one has no route');
    return !keys.has(key) && keys.add(key);
  });
}

function withUniqueIds(routes: readonly ImportedRoute[]): ImportedRoute[] {
  const ids = new Set(routes.map(({ entry }) => String(entry['id'])));
  const used = new Set<string>();
  return routes.map((route) => {
    const base = String(route.entry['id']);
    let id = base;
    for (let number = 2; used.has(id) || (id !== base && ids.has(id)); number += 1) id = `${base}-${number}`;
    used.add(id);
    return { ...route, entry: { ...route.entry, id } };
  });
}

function reportUnusedMembers({ value }: OpenApiDocument, { prefix }: ImportOptions, report: ReportLoss): void {
  const { servers, webhooks, tags } = value;
  if (value['$self'] !== undefined)
    report(['$self'], 'none', 'the address of the document is not used; references into it begin with "#"');
  for (const [index, tag] of (Array.isArray(tags) ? (tags as unknown[]) : []).entries())
    if (isMap(tag) && tag['parent'] !== undefined)
      report(['tags', index, 'parent'], 'none', 'routes have no tags, and no groups of them');
  if (Array.isArray(servers) && servers.length > 0 && prefix === '')
    report(
      ['servers'],
      'none',
      'the servers are not used; write their path with --prefix, and their address in the upstream',
    );
  if (isMap(webhooks) && Object.keys(webhooks).length > 0)
    report(['webhooks'], 'none', 'webhooks are requests of the upstream, which the gateway does not see');
}

/** Returns `access` and `roles` of a route. Only `security: []` makes an operation public. */
function accessOf(operation: Operation, { document, report, options }: ImportContext): object {
  const { value, origin } = operation;
  const [security, path]: [unknown, Path] =
    value['security'] === undefined
      ? [document.value['security'], ['security']]
      : [value['security'], [...origin, 'security']];
  if (security === undefined) return { access: options.access };
  if (!Array.isArray(security)) {
    report(path, 'stricter', 'this is not a list of security schemes; requests without a token are refused');
    return { access: 'protected' };
  }
  if (security.length === 0) return { access: 'public' };
  const roles = new Set<string>();
  let hasRoles = true;
  for (const alternative of security as unknown[]) {
    if (!isMap(alternative)) continue;
    const names = Object.keys(alternative);
    if (names.length === 0)
      report(path, 'stricter', 'requests without a token are refused; write access: public to allow them');
    const scopes = names.flatMap((name) => (Array.isArray(alternative[name]) ? (alternative[name] as unknown[]) : []));
    const mapped = [...new Set(scopes.map((scope) => options.roles.get(String(scope))))];
    for (const scope of new Set(scopes.map(String)))
      if (!options.roles.has(scope))
        report(
          path,
          'looser',
          `the scope ${JSON.stringify(scope)} stands for no role; name one with --role ${scope}=ROLE`,
        );
    if (mapped.length > 1) report(path, 'looser', 'a token needs one of the roles, not all of them');
    const known = mapped.filter((role) => role !== undefined);
    for (const role of known) roles.add(role);
    // An alternative without a role lets every role pass.
    if (known.length === 0) hasRoles = false;
    const others = names.filter((name) => !isToken(name));
    for (const name of others) reportScheme(name, others.length < names.length);
  }
  const needed = ownRoles(operation) ?? (hasRoles ? [...roles].sort() : []);
  return { access: 'protected', ...(needed.length > 0 ? { roles: needed[0] === ANY_ROLE ? ANY_ROLE : needed } : {}) };

  function isToken(name: string): boolean {
    const scheme = document.follow({ $ref: referenceTo(['components', 'securitySchemes', name]) }, [])?.value;
    const { type, scheme: kind } = isMap(scheme) ? scheme : {};
    return type === 'oauth2' || type === 'openIdConnect' || (type === 'http' && /^bearer$/i.test(String(kind)));
  }

  function reportScheme(name: string, isBesideToken: boolean): void {
    const scheme = JSON.stringify(name);
    if (isBesideToken)
      report(path, 'looser', `the gateway verifies the token, but not the security scheme ${scheme} beside it`);
    else
      report(
        ['components', 'securitySchemes', name],
        'stricter',
        `the gateway requires a bearer token instead of the security scheme ${scheme}`,
      );
  }
}

/** The settings that `GET /openapi.json` describes only in part, in members of its own. */
const NOT_READ: Readonly<Record<string, readonly ['looser' | 'stricter', string]>> = {
  'x-login': ['looser', 'the roles of the token in the response are not checked; write login'],
  'x-headers': ['looser', 'these headers are not validated; write them in headers'],
  'x-websocket': ['stricter', 'WebSocket handshakes are not accepted; write websocket'],
};

/** Returns `roles` of a protected route, as a document of the gateway has them. */
function ownRoles({ value }: Operation): readonly string[] | undefined {
  const roles = value['x-roles'];
  const isList = Array.isArray(roles) && roles.length > 0;
  return isList && roles.every((role) => typeof role === 'string' && role !== '') ? roles : undefined;
}
