import { REFUSALS, type RefusalCode } from '../../engine/gateway/response/refusal.ts';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { valueAt } from '../../engine/json-pointer.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import type { Route } from '../../engine/plan/route-definition.ts';
import type { Path } from '../../engine/problem/finding.ts';
import { isMap, isSchema, mapSchemas, referencePath } from '../../engine/schema/schema-walk.ts';
import { possibleRefusals } from '../../prove/testing/route-refusals.ts';

export type OpenApiComponents = ReturnType<typeof createOpenApiComponents>;

/** Returns the schemas of a plan for an OpenAPI document. Every referenced schema becomes a component. */
export function createOpenApiComponents(root: Plan['schemas']) {
  const schemas = new Map<string, unknown>();
  const usedNames = new Set(['Refusal']);
  const names = new Map<string, string>();
  const nameOf = (path: readonly string[]) => {
    const key = JSON.stringify(path);
    const known = names.get(key);
    if (known !== undefined) return known;
    // OpenAPI allows only these characters in component names.
    const base = (path[0] === 'schemas' ? path.slice(1) : path).join('.').replace(/[^A-Za-z0-9._-]/g, '_');
    let name = base;
    for (let number = 2; usedNames.has(name); number += 1) name = `${base}_${number}`;
    usedNames.add(name);
    names.set(key, name);
    schemas.set(name, rewriteReferences(valueAt(root, path)));
    return name;
  };
  const rewriteReferences = (schema: unknown) =>
    mapSchemas(schema, (inner) => {
      const path = typeof inner['$ref'] === 'string' ? referencePath(inner['$ref']) : undefined;
      // A reference from the environment is redacted and resolves to nothing, so it stays unchanged.
      return path === undefined || !isSchema(valueAt(root, path))
        ? withItems(inner)
        : { ...inner, $ref: `#/components/schemas/${nameOf(path)}` };
    });
  return {
    schemaAt: (path: Path): unknown => {
      const schema = valueAt(root, path);
      return isMap(schema) || typeof schema === 'boolean' ? rewriteReferences(schema) : {};
    },
    /** The referenced schemas, by component name. */
    schemas,
  };
}

/** Adds the schema of the items to a list that may have any, because some readers require one. */
function withItems(schema: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return schema['type'] === 'array' && schema['items'] === undefined ? { ...schema, items: {} } : schema;
}

export type ResponseComponents = ReturnType<typeof createResponseComponents>;

const UPSTREAM_RESPONSE = 'Upstream';

/** Returns the responses of a plan for an OpenAPI document. Routes with the same refusals share components. */
export function createResponseComponents() {
  const responses = new Map<string, object>([
    [UPSTREAM_RESPONSE, { description: 'The response of the upstream. The gateway does not change it.' }],
  ]);
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const referenceTo = (range: string, codes: readonly RefusalCode[]): object => {
    const name = getOrCreate(names, codes.join(), () => {
      const number = (counts.get(range) ?? 0) + 1;
      counts.set(range, number);
      return `Refusals${range}${number === 1 ? '' : `-${number}`}`;
    });
    getOrCreate(responses, name, () => describeRefusals(codes));
    return { $ref: `#/components/responses/${name}` };
  };
  return {
    /** Returns the responses to requests of a route: that of the upstream or of the gateway itself, and the refusals of the gateway. */
    responsesOf: (route: Route): object => {
      const byRange = Map.groupBy(possibleRefusals(route), rangeOf);
      const refusals = [...byRange].sort().map(([range, codes]) => [range, referenceTo(range, codes)] as const);
      const own = route.ownResponse && [String(route.ownResponse.status), describeOwnResponse(route.ownResponse)];
      const response = own ?? ['2XX', { $ref: `#/components/responses/${UPSTREAM_RESPONSE}` }];
      return Object.fromEntries([response, ...refusals]);
    },
    /** The components, by name. */
    responses,
  };
}

function describeOwnResponse({ headers, body, locationOf }: NonNullable<Route['ownResponse']>): object {
  const contentType = headers.find(
    (_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === 'content-type',
  );
  return {
    description: locationOf === undefined ? 'The response of the gateway itself.' : 'A redirect of the gateway itself.',
    ...(locationOf && { headers: { Location: { required: true, schema: STRING_SCHEMA } } }),
    ...(body.length > 0 && contentType !== undefined && { content: { [contentType]: {} } }),
  };
}

/** Returns the range of a refusal's status, as OpenAPI writes it: `4XX`. */
function rangeOf(code: RefusalCode): string {
  return `${Math.floor(REFUSALS[code].status / 100)}XX`;
}

function describeRefusals(codes: readonly RefusalCode[]): object {
  const sorted = codes.toSorted((a, b) => REFUSALS[a].status - REFUSALS[b].status);
  const lines = sorted.map((code) => `- ${REFUSALS[code].status} \`${code}\`: ${REFUSALS[code].detail}`);
  return {
    description: `A refusal of the gateway, or a response of the upstream. The refusals:\n\n${lines.join('\n')}`,
    ...(codes.includes('rate_limit_exceeded') ? { headers: { 'Retry-After': RETRY_AFTER } } : {}),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Refusal' } } },
  };
}

/** The header of every refusal by a rate limit (RFC 9110 section 10.2.3). */
const RETRY_AFTER = {
  description: 'With status 429: seconds to wait before another request.',
  schema: { type: 'integer', minimum: 1 },
};

const STRING_SCHEMA = { type: 'string' };

export const REFUSAL_SCHEMA = {
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
