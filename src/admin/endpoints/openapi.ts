import type { RefusalCode } from '../../gateway/response/refusal.ts';
import { REFUSALS } from '../../gateway/response/refusal.ts';
import type { PlannedManifest } from '../../load.ts';
import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Route } from '../../plan/route-definition.ts';
import { parsePattern, patternKey, type Segment } from '../../plan/routing/pattern.ts';
import { type AdminContext, type AdminRequest, type AdminResponse, largeJsonResponse } from '../admin-endpoint.ts';
import { openJsonObject } from '../json-stream.ts';
import { createOpenApiComponents, type OpenApiComponents } from '../openapi-components.ts';

/** OpenAPI 3.1 of the routes in force: what may be sent, who may send it, and what is refused. */
export function openapi(_call: AdminRequest, { activeManifest, version }: AdminContext): AdminResponse {
  return largeJsonResponse(streamOpenApi(activeManifest(), version));
}

/** The JSON of the document, piece by piece. */
export function* streamOpenApi({ plan, manifest, secrets }: PlannedManifest, version: string): Generator<string> {
  const book = createOpenApiComponents(plan.schemas);
  const info = { title: 'The routes of the gateway', version: plan.hash.slice(0, 12), 'x-gateway-version': version };
  yield `${openJsonObject({ openapi: '3.1.0', info })}"paths":{`;
  // To OpenAPI two paths that differ in the names of their parameters alone are one path.
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
      const described = { entry, types: mediaTypesOf(entry, index, secrets), index, names, book };
      for (const method of route.methods) operations[method.toLowerCase()] = operation(route, method, described);
    }
    yield `${separator}${JSON.stringify(path)}:${JSON.stringify(operations)}`;
    separator = ',';
  }
  const security = plan.auth === undefined ? {} : { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } };
  yield `},"components":${openJsonObject(security)}"schemas":{"Refusal":${JSON.stringify(REFUSAL_SCHEMA)}`;
  for (const [name, schema] of book.schemas()) yield `,${JSON.stringify(name)}:${JSON.stringify(schema)}`;
  yield '}}}\n';
}

/** The rest of a path is a parameter of one segment here: OpenAPI has no other. */
function openapiPath(pattern: readonly Segment[]): string {
  const names = pattern.map((segment) => (segment.kind === 'parameter' ? segment.name : ''));
  const rest = names.includes('rest') ? 'any-rest' : 'rest';
  const steps = pattern.map((segment) => {
    if (segment.kind === 'rest') return `{${rest}}`;
    return segment.kind === 'parameter' ? `{${segment.name}}` : segment.text;
  });
  return `/${steps.join('/')}`;
}

interface OperationContext {
  readonly entry: RouteEntry;
  /** The media types of the body as they may be printed. */
  readonly types: readonly string[];
  readonly index: number;
  /** Of the path's parameters, in their order. */
  readonly names: readonly string[];
  readonly book: OpenApiComponents;
}

function operation(route: Route, method: string, described: OperationContext): object {
  const { id, access, auth, websocket, login } = route;
  const isAsked = access === 'protected';
  return {
    operationId: route.methods.length === 1 ? id : `${id}-${method.toLowerCase()}`,
    tags: [route.upstream.id],
    parameters: parametersOf(described),
    ...requestBodyOf(route, described),
    responses: responsesOf(route),
    security: isAsked ? [{ token: [] }] : [],
    'x-route': id,
    ...(isAsked || login !== undefined ? { 'x-roles': auth?.role.redactedRoles } : {}),
    ...(websocket ? { 'x-websocket': true } : {}),
  };
}

function parametersOf({ entry, index, names, book }: OperationContext): object[] {
  const own = parsePattern(entry.path).flatMap((segment) => (segment.kind === 'parameter' ? [segment.name] : []));
  const inPath = names.map((name, at) => {
    const written = own[at] ?? '';
    const isRuled = entry.params !== undefined && Object.hasOwn(entry.params.properties, written);
    const schema = isRuled ? book.schemaAt(['routes', index, 'params', 'properties', written]) : { type: 'string' };
    return { name, in: 'path', required: true, schema };
  });
  const outside = (['query', 'headers'] as const).flatMap((place) => {
    const rule = entry[place];
    return Object.keys(rule?.properties ?? {}).map((name) => ({
      name,
      in: place === 'query' ? 'query' : 'header',
      required: rule?.required?.includes(name) ?? false,
      schema: book.schemaAt(['routes', index, place, 'properties', name]),
    }));
  });
  return [...inPath, ...outside];
}

function mediaTypesOf(
  { body }: RouteEntry,
  index: number,
  { redactValue }: PlannedManifest['secrets'],
): readonly string[] {
  const usual = [body?.schema === undefined ? '*/*' : 'application/json'];
  return body?.types === undefined ? usual : redactValue(body.types, ['routes', index, 'body', 'types']);
}

function requestBodyOf({ body }: Route, { entry, types, index, book }: OperationContext): object {
  if (body === undefined) return {};
  const schema = entry.body?.schema === undefined ? {} : { schema: book.schemaAt(['routes', index, 'body', 'schema']) };
  const content = Object.fromEntries(types.map((type) => [type, schema]));
  return { requestBody: { content, 'x-limit-bytes': body.limitBytes } };
}

/** Whatever the upstream answers passes as it is. */
function responsesOf(route: Route): object {
  const byStatus = Map.groupBy(refusalsOf(route), (code) => String(REFUSALS[code].status));
  const refused = [...byStatus].map(([status, codes]) => [
    status,
    {
      description: codes.map((code) => `${code}: ${REFUSALS[code].detail}`).join('; '),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Refusal' } } },
    },
  ]);
  return {
    ...Object.fromEntries(refused),
    default: { description: `what the upstream "${route.upstream.id}" answers` },
  };
}

const COMMON_REFUSALS: readonly RefusalCode[] = [
  'message_malformed',
  'path_ambiguous',
  'request_timeout',
  'expectation_failed',
  'headers_too_large',
  'internal_error',
  'upstream_unreachable',
  'upstream_error',
  'upstream_unavailable',
  'upstream_busy',
  'upstream_timeout',
];

function refusalsOf({ access, websocket, login, parameters, body, validation }: Route): RefusalCode[] {
  const isEnforced = validation === 'enforce';
  return [
    ...COMMON_REFUSALS,
    ...((websocket ? ['origin_not_allowed'] : []) as RefusalCode[]),
    ...((access === 'protected' ? ['token_missing', 'token_invalid'] : []) as RefusalCode[]),
    ...((access === 'protected' || login ? ['role_not_allowed', 'keys_unavailable'] : []) as RefusalCode[]),
    ...((login ? ['login_response_refused'] : []) as RefusalCode[]),
    ...((parameters && isEnforced ? ['parameter_invalid'] : []) as RefusalCode[]),
    ...((body ? ['body_too_large'] : []) as RefusalCode[]),
    ...((body?.validate || parameters || login ? ['gateway_busy'] : []) as RefusalCode[]),
    ...((body?.types && isEnforced ? ['media_type_unsupported'] : []) as RefusalCode[]),
    ...(((body?.validate || body?.streamValidatorFor) && isEnforced ? ['body_invalid'] : []) as RefusalCode[]),
  ];
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
