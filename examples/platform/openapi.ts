import type { QueryParameter, RouteDescription, SandboxRoute } from './request.ts';

/** Returns an OpenAPI 3.1 document of the routes of one server. */
export function describeServer(title: string, url: string, routes: readonly SandboxRoute[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const [line, access, , description] of routes) {
    const [method = '', pattern = ''] = line.split(' ');
    const path = pattern.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(line, access, description) };
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '1', description: 'A local stand-in. Its payloads are choices of the sandbox.' },
    servers: [{ url }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: ERROR_SCHEMA },
    },
  };
}

const ERROR_SCHEMA = {
  type: 'object',
  required: ['status', 'message'],
  properties: { status: { const: 'error' }, message: { type: 'string' } },
};

const PAGE_NUMBER = { type: 'integer', minimum: 1 };
const DATE = { type: 'string', description: 'an ISO date such as 2026-01-31 or 2026-01-31T12:00:00Z' };

const QUERY_SCHEMAS: Readonly<Record<QueryParameter, object>> = {
  page: PAGE_NUMBER,
  per_page: { ...PAGE_NUMBER, description: 'at most 100' },
  search: { type: 'string' },
  folder_id: { type: 'string' },
  from: DATE,
  to: DATE,
  async: { type: 'boolean' },
  token: { type: 'string', description: 'the token in the mail' },
};

function describeOperation(line: string, access: SandboxRoute[1], description: RouteDescription): object {
  const { summary, id, query = [], body, status = 200 } = description;
  const inPath = { name: 'id', in: 'path', required: true, schema: { type: 'string' }, ...(id && { example: id }) };
  const inQuery = query.map((name) => ({ name, in: 'query', schema: QUERY_SCHEMAS[name] }));
  const error = { description: 'an error', content: { 'application/json': { schema: ERROR_REFERENCE } } };
  return {
    operationId: line.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'),
    summary,
    security: access === 'public' ? [] : [{ token: [] }],
    ...(access === 'admin' && { description: 'Requires the role admin.' }),
    parameters: [...(line.includes('/:id') ? [inPath] : []), ...inQuery],
    ...(body && { requestBody: { required: true, content: describeBodies(body) } }),
    responses: status < 400 ? { [status]: { description: 'success' }, default: error } : { [status]: error },
  };
}

const ERROR_REFERENCE = { $ref: '#/components/schemas/Error' };

function describeBodies(bodies: NonNullable<RouteDescription['body']>): object {
  const describe = (example: object | string) => ({ schema: schemaOf(example), example });
  return Object.fromEntries(Object.entries(bodies).map(([type, example]) => [type, describe(example)]));
}

/** Returns the schema of the type of an example. No member is required, because the example does not show which are. */
function schemaOf(example: unknown): object {
  if (Array.isArray(example)) return { type: 'array', items: schemaOf(example[0]) };
  if (typeof example !== 'object' || example === null) return { type: typeof example };
  const properties = Object.entries(example).map(([name, value]) => [name, schemaOf(value)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}
