import { isIPv6 } from 'node:net';
import { getOrCreate } from '../../engine/get-or-create.ts';
import type { PlannedManifest } from '../../engine/load.ts';
import type { RouteEntry } from '../../engine/manifest/manifest.generated.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { SlicedWork } from '../../engine/plan/sliced-work.ts';
import { type DescribedOperation, type DescribedRoute, describeOperation } from './operation.ts';
import { createPathTemplates, describedMethods, type PathTemplate, type PathTemplates } from './path-templates.ts';
import { createOpenApiComponents, createResponseComponents, REFUSAL_SCHEMA } from './shared-components.ts';

/** Yields the JSON of an OpenAPI 3.1 document for the routes of a plan in chunks, which may be empty. */
export function* streamOpenApi(planned: PlannedManifest, version: string): Generator<string> {
  const { plan } = planned;
  const components = createOpenApiComponents(plan.schemas);
  const responses = createResponseComponents();
  const routeOf = createRouteDescriptions(planned, { components, responses });
  const paths = yield* withEmptyChunks(createPathTemplates(plan));
  const operationIds = yield* withEmptyChunks(createOperationIds(paths));
  yield `${JSON.stringify(headOf(plan, version)).slice(0, -1)},"paths":{`;
  let separator = '';
  for (const template of paths.templates) {
    const operations = describeOperations(template, paths, operationIds, routeOf);
    yield `${separator}${JSON.stringify(pathText(template))}:${JSON.stringify(operations)}`;
    separator = ',';
  }
  yield '},"components":{';
  if (plan.auth !== undefined) yield `"securitySchemes":${JSON.stringify(securitySchemes(plan.auth))},`;
  yield `"responses":${JSON.stringify(Object.fromEntries(responses.responses))},`;
  yield `"schemas":{"Refusal":${JSON.stringify(REFUSAL_SCHEMA)}`;
  for (const [name, schema] of components.schemas) yield `,${JSON.stringify(name)}:${JSON.stringify(schema)}`;
  yield '}}}\n';
}

/** One for each token method. The roles are those of every operation that has none of its own: thousands would repeat them. */
function securitySchemes({ role }: NonNullable<Plan['auth']>): Readonly<Record<string, object>> {
  const rules = role.rules ?? new Map([[undefined, role]]);
  const schemes = [...rules].map(([name = 'token', { redactedRoles }]) => [
    name,
    { type: 'http', scheme: 'bearer', 'x-roles': redactedRoles },
  ]);
  return Object.fromEntries(schemes);
}

/** Returns the members before the paths. */
function headOf(plan: Plan, version: string): object {
  const [scheme = ''] = plan.auth === undefined ? [] : Object.keys(securitySchemes(plan.auth));
  const upstreams = [...new Set(plan.routes.flatMap(({ upstream }) => upstream?.id ?? []))].sort();
  return {
    openapi: '3.1.0',
    info: {
      title: 'The routes of the gateway',
      description: 'Each operation is a route of the manifest at one path and method. `x-route` is its id.',
      version: plan.hash.slice(0, 12),
      'x-gateway-version': version,
    },
    servers: [{ url: serverUrl(plan), description: 'The gateway, at the address of `listen`.' }],
    tags: upstreams.map((name) => ({ name, description: `Routes to the upstream "${name}".` })),
    ...(plan.auth === undefined ? {} : { security: [{ [scheme]: [] }] }),
  };
}

/** A client cannot connect to an address such as 0.0.0.0, so that of this machine stands for it. */
function serverUrl({ listen: { host, port }, server }: Plan): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return `${server.tls === undefined ? 'http' : 'https'}://${name}${port === 0 ? '' : `:${port}`}`;
}

function createRouteDescriptions(
  { plan, manifest, secrets }: PlannedManifest,
  registries: Pick<DescribedRoute, 'components' | 'responses'>,
): (route: Route) => DescribedRoute {
  const indexes = new Map(plan.routes.map((route, index) => [route, index]));
  return (route) => {
    const index = indexes.get(route) as number;
    const entry = manifest.routes[index] as RouteEntry;
    return { route, entry, body: secrets.redactValue(entry.body, ['routes', index, 'body']), index, ...registries };
  };
}

function describeOperations(
  template: PathTemplate,
  { mainTemplates }: PathTemplates,
  operationIds: OperationIds,
  routeOf: (route: Route) => DescribedRoute,
): Readonly<Record<string, object>> {
  const operations = [...template.routes].map(([method, route]) => {
    const hasRest = route.path.endsWith('/**') && mainTemplates.get(route) === template;
    const place = { id: operationIds(template, method), method, template, hasRest };
    return [method.toLowerCase(), describeOperation(routeOf(route), place)] as const;
  });
  return sharePathParameters(Object.fromEntries(operations));
}

/** Moves the path parameters that all operations of a path have to the path: a wide route has seven operations. */
function sharePathParameters(operations: Readonly<Record<string, DescribedOperation>>) {
  const lists = Object.values(operations).map(({ parameters = [] }) => parameters.map((one) => JSON.stringify(one)));
  const [first = [], ...others] = lists;
  const shared = new Set(
    first.filter((one) => JSON.parse(one).in === 'path' && others.every((list) => list.includes(one))),
  );
  if (others.length === 0 || shared.size === 0) return operations;
  const own = Object.entries(operations).map(([method, { parameters = [], ...operation }]) => {
    const rest = parameters.filter((one) => !shared.has(JSON.stringify(one)));
    return [method, { ...operation, ...(rest.length > 0 ? { parameters: rest } : {}) }] as const;
  });
  return { parameters: [...shared].map((one) => JSON.parse(one)), ...Object.fromEntries(own) };
}

function pathText({ segments }: PathTemplate): string {
  return `/${segments.map((segment) => (segment.kind === 'literal' ? segment.text : `{${segment.name}}`)).join('/')}`;
}

/** Runs sliced work as part of a stream: each step is an empty chunk. */
function* withEmptyChunks<Result>(work: SlicedWork<Result>): Generator<string, Result> {
  let step = work.next();
  while (step.done !== true) {
    yield '';
    step = work.next();
  }
  return step.value;
}

/** Returns the unique `operationId` of a method of a path. */
type OperationIds = (template: PathTemplate, method: string) => string;

/**
 * Names the operations after the ids of their routes: `contact-new`, and `contacts-get` for a route with several methods. If a
 * name is taken, a number follows. The main path of a route gets the name without a number.
 */
function* createOperationIds({ templates, mainTemplates }: PathTemplates): SlicedWork<OperationIds> {
  const idByOperation = new Map<PathTemplate, Map<string, string>>();
  const usedIds = new Set<string>();
  // Thousands of operations may have the same name.
  const lastNumbers = new Map<string, number>();
  const hasOneMethod = (route: Route) => describedMethods(route).length === 1;
  const isMain = (route: Route, template: PathTemplate) => mainTemplates.get(route) === template;
  const isNamedAfterRoute = (route: Route, template: PathTemplate) => hasOneMethod(route) && isMain(route, template);
  for (const hasRank of [isNamedAfterRoute, isMain, () => true]) {
    for (const template of templates) {
      const ids = getOrCreate(idByOperation, template, () => new Map());
      for (const [method, route] of template.routes) {
        if (ids.has(method) || !hasRank(route, template)) continue;
        const base = hasOneMethod(route) ? route.id : `${route.id}-${method.toLowerCase()}`;
        let number = lastNumbers.get(base) ?? 0;
        let id = base;
        do {
          number += 1;
          id = number === 1 ? base : `${base}-${number}`;
        } while (usedIds.has(id));
        usedIds.add(id);
        ids.set(method, id);
        lastNumbers.set(base, number);
      }
      yield;
    }
  }
  return (template, method) => idByOperation.get(template)?.get(method) ?? '';
}
