import { REFUSALS } from '../../gateway/response/refusal.ts';
import { possibleRefusals } from '../../gateway/response/route-refusals.ts';
import type { PlannedManifest } from '../../load.ts';
import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Route } from '../../plan/route-definition.ts';
import { parsePattern, patternKey, type Segment } from '../../plan/routing/pattern.ts';
import { type AdminContext, type AdminRequest, type AdminResponse, largeJsonResponse } from '../admin-endpoint.ts';
import { openJsonObject } from '../json-stream.ts';
import { createOpenApiComponents, type OpenApiComponents } from '../openapi-components.ts';

/** Describes the active routes as OpenAPI 3.1: parameters, bodies, roles and refusals. */
export function openapi(_request: AdminRequest, { activeManifest, version }: AdminContext): AdminResponse {
  return largeJsonResponse(streamOpenApi(activeManifest(), version));
}

/** Yields the JSON of the document in chunks. */
export function* streamOpenApi({ plan, manifest, secrets }: PlannedManifest, version: string): Generator<string> {
  const components = createOpenApiComponents(plan.schemas);
  const info = { title: 'The routes of the gateway', version: plan.hash.slice(0, 12), 'x-gateway-version': version };
  yield `${openJsonObject({ openapi: '3.1.0', info })}"paths":{`;
  // OpenAPI treats two paths that differ only in parameter names as one path.
  const paths = new Map<string, number[]>();
  for (const [index, { path }] of plan.routes.entries()) {
    const key = patternKey(parsePattern(path));
    const indexes = paths.get(key);
    if (indexes === undefined) paths.set(key, [index]);
    else indexes.push(index);
    yield '';
  }
  let separator = '';
  for (const indexes of paths.values()) {
    const path = openapiPath(parsePattern(plan.routes[indexes[0] as number]?.path ?? ''));
    const names = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name as string);
    const operations: Record<string, object> = {};
    for (const index of indexes) {
      const route = plan.routes[index] as Route;
      const entry = manifest.routes[index] as RouteEntry;
      const context = { entry, types: mediaTypesOf(entry, index, secrets), index, names, components };
      for (const method of route.methods) operations[method.toLowerCase()] = operation(route, method, context);
    }
    yield `${separator}${JSON.stringify(path)}:${JSON.stringify(operations)}`;
    separator = ',';
  }
  const security = plan.auth === undefined ? {} : { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } };
  yield `},"components":${openJsonObject(security)}"schemas":{"Refusal":${JSON.stringify(REFUSAL_SCHEMA)}`;
  for (const [name, schema] of components.schemas()) yield `,${JSON.stringify(name)}:${JSON.stringify(schema)}`;
  yield '}}}\n';
}

/** Converts a pattern to an OpenAPI path. `**` becomes a parameter for one segment: OpenAPI has none for several. */
function openapiPath(pattern: readonly Segment[]): string {
  const names = pattern.map((segment) => (segment.kind === 'parameter' ? segment.name : ''));
  const rest = names.includes('rest') ? 'any-rest' : 'rest';
  const segments = pattern.map((segment) => {
    if (segment.kind === 'rest') return `{${rest}}`;
    return segment.kind === 'parameter' ? `{${segment.name}}` : segment.text;
  });
  return `/${segments.join('/')}`;
}

interface OperationContext {
  readonly entry: RouteEntry;
  /** The media types of the body, redacted. */
  readonly types: readonly string[];
  readonly index: number;
  /** The names of the path parameters, in order. */
  readonly names: readonly string[];
  readonly components: OpenApiComponents;
}

function operation(route: Route, method: string, context: OperationContext): object {
  const { id, access, auth, websocket, login } = route;
  const isProtected = access === 'protected';
  return {
    operationId: route.methods.length === 1 ? id : `${id}-${method.toLowerCase()}`,
    tags: [route.upstream.id],
    parameters: parametersOf(context),
    ...requestBodyOf(route, context),
    responses: responsesOf(route),
    security: isProtected ? [{ token: [] }] : [],
    'x-route': id,
    ...(isProtected || login !== undefined ? { 'x-roles': auth?.role.redactedRoles } : {}),
    ...(websocket ? { 'x-websocket': true } : {}),
  };
}

function parametersOf({ entry, index, names, components }: OperationContext): object[] {
  const ownNames = parsePattern(entry.path).flatMap((segment) => (segment.kind === 'parameter' ? [segment.name] : []));
  const inPath = names.map((name, at) => {
    const ownName = ownNames[at] ?? '';
    const hasSchema = entry.params !== undefined && Object.hasOwn(entry.params.properties, ownName);
    const schema = hasSchema
      ? components.schemaAt(['routes', index, 'params', 'properties', ownName])
      : { type: 'string' };
    return { name, in: 'path', required: true, schema };
  });
  const others = (['query', 'headers'] as const).flatMap((key) => {
    const rule = entry[key];
    return Object.keys(rule?.properties ?? {}).map((name) => ({
      name,
      in: key === 'query' ? 'query' : 'header',
      required: rule?.required?.includes(name) ?? false,
      schema: components.schemaAt(['routes', index, key, 'properties', name]),
    }));
  });
  return [...inPath, ...others];
}

function mediaTypesOf(
  { body }: RouteEntry,
  index: number,
  { redactValue }: PlannedManifest['secrets'],
): readonly string[] {
  const defaults = [body?.schema === undefined ? '*/*' : 'application/json'];
  return body?.types === undefined ? defaults : redactValue(body.types, ['routes', index, 'body', 'types']);
}

function requestBodyOf({ body }: Route, { entry, types, index, components }: OperationContext): object {
  if (body === undefined) return {};
  const schema =
    entry.body?.schema === undefined ? {} : { schema: components.schemaAt(['routes', index, 'body', 'schema']) };
  const content = Object.fromEntries(types.map((type) => [type, schema]));
  return { requestBody: { content, 'x-limit-bytes': body.limitBytes } };
}

/** Describes the refusals of the gateway. The gateway does not know the responses of the upstream. */
function responsesOf(route: Route): object {
  const byStatus = Map.groupBy(possibleRefusals(route), (code) => String(REFUSALS[code].status));
  const refusals = [...byStatus].map(([status, codes]) => [
    status,
    {
      description: codes.map((code) => `${code}: ${REFUSALS[code].detail}`).join('; '),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Refusal' } } },
    },
  ]);
  return {
    ...Object.fromEntries(refusals),
    default: { description: `the response of the upstream "${route.upstream.id}"` },
  };
}

const STRING_SCHEMA = { type: 'string' };

const REFUSAL_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'message', 'request_id'],
  properties: {
    type: STRING_SCHEMA,
    title: STRING_SCHEMA,
    status: { type: 'integer' },
    detail: STRING_SCHEMA,
    code: { enum: Object.keys(REFUSALS) },
    message: STRING_SCHEMA,
    request_id: STRING_SCHEMA,
    errors: {
      type: 'array',
      items: { type: 'object', properties: { pointer: STRING_SCHEMA, message: STRING_SCHEMA } },
    },
  },
};
