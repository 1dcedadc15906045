import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HTTP_METHODS } from '../../src/engine/http1/http-methods.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import { runToEnd } from '../../src/engine/plan/sliced-work.ts';
import { createPathTemplates } from '../../src/openapi/export/path-templates.ts';
import { streamOpenApi } from '../../src/openapi/export/stream-openapi.ts';
import { anyManifest } from '../support/any-manifest.ts';
import { worldOf } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is read as plain JSON
type Json = Record<string, any>;

function planned(routes: readonly object[], others: object = {}): PlannedManifest {
  const manifest = {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:9' } },
    ...others,
    routes: routes.map((route) => ({ method: 'GET', upstream: 'up', access: 'public', ...route })),
  };
  return loaded(manifest);
}

function loaded(manifest: object): PlannedManifest {
  const result = load(
    { path: 'gateway.yaml', text: JSON.stringify(manifest) },
    worldOf({ SECRET: '0123456789abcdef' }),
  );
  if (result.plan === undefined) throw new Error(result.problems.map(({ message }) => message).join('; '));
  return result;
}

function describeRoutes(manifest: PlannedManifest): Json {
  return JSON.parse([...streamOpenApi(manifest, '1')].join(''));
}

/** Copies the parameters of each path to its operations, as a reader applies them. */
function withPathParameters(document: Json): Json {
  const paths = Object.entries(document['paths'] as Record<string, Json>).map(
    ([path, { parameters, ...operations }]) => {
      const own = Object.entries(operations as Record<string, Json>).map(([method, operation]) => {
        const all = [...(parameters ?? []), ...(operation['parameters'] ?? [])];
        return [method, { ...operation, ...(all.length > 0 && { parameters: all }) }];
      });
      return [path, Object.fromEntries(own)];
    },
  );
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Returns the operation of a method. That of GET is also that of HEAD if there is no other. */
function operationOf(item: Json, method: string): Json | undefined {
  return item[method.toLowerCase()] ?? (method === 'HEAD' ? item['get'] : undefined);
}

function operationsOf({ paths }: Json): [path: string, method: string, operation: Json][] {
  return Object.entries(paths as Record<string, Json>).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): [string, string, Json] => [path, method, operation as Json]),
  );
}

describe('paths', () => {
  it('describes a rest as a path without it and a path with one parameter', () => {
    const document = describeRoutes(planned([{ id: 'files', method: 'PUT', path: '/files/**' }]));
    expect(Object.keys(document['paths'])).toEqual(['/files', '/files/{rest}']);
    const { put } = document['paths']['/files/{rest}'];
    expect(put.parameters).toMatchObject([{ name: 'rest', in: 'path', required: true, 'x-rest': true }]);
    expect(document['paths']['/files'].put.parameters).toBeUndefined();
  });

  it('states a path parameter once if all methods have it', () => {
    const params = { properties: { id: { type: 'integer' } } };
    const { paths } = describeRoutes(
      planned([
        { id: 'a', method: ['GET', 'PUT'], path: '/a/{id}' },
        { id: 'b', path: '/b/{id}', params },
        { id: 'b-new', method: 'POST', path: '/b/{id}' },
      ]),
    );
    expect(paths['/a/{id}'].parameters).toMatchObject([{ name: 'id', in: 'path', required: true }]);
    expect(paths['/a/{id}'].put.parameters).toBeUndefined();
    expect(paths['/b/{id}'].parameters).toBeUndefined();
    expect(paths['/b/{id}'].get.parameters).toMatchObject([{ name: 'id', schema: { type: 'integer' } }]);
    expect(paths['/b/{id}'].post.parameters).toMatchObject([{ name: 'id', schema: { type: 'string' } }]);
  });

  it('never has two paths that differ only in parameter names', () => {
    const routes = [
      { id: 'rest', method: ['GET', 'POST'], path: '/items/**' },
      { id: 'item', path: '/items/{id}' },
    ];
    const { paths } = withPathParameters(describeRoutes(planned(routes)));
    expect(Object.keys(paths)).toEqual(['/items', '/items/{id}', '/items/{rest-1}/{rest}']);
    expect(paths['/items/{id}'].get['x-route']).toBe('item');
    expect(paths['/items/{id}'].post).toMatchObject({ 'x-route': 'rest', parameters: [{ name: 'id' }] });
  });

  it('shows the methods of a wider route at a literal path', () => {
    const routes = [
      { id: 'list', path: '/items/list' },
      { id: 'new', method: 'POST', path: '/items/{id}' },
    ];
    const { paths } = describeRoutes(planned(routes));
    expect(paths['/items/list'].post).toMatchObject({ 'x-route': 'new' });
  });

  it('shows the methods of a wider route at a path with parameters', () => {
    const routes = [
      { id: 'all', path: '/**' },
      { id: 'new', method: 'POST', path: '/items/{id}' },
    ];
    const { paths } = withPathParameters(describeRoutes(planned(routes)));
    expect(paths['/items/{id}'].get).toMatchObject({ 'x-route': 'all', parameters: [{ name: 'id' }] });
    expect(paths['/items/{id}'].post).toMatchObject({ 'x-route': 'new' });
  });

  it('adds the common paths of routes that cross', () => {
    const routes = [
      { id: 'middle', path: '/{p0}/b/**' },
      { id: 'all', path: '/**' },
      { id: 'left', method: ['PUT', 'DELETE'], path: '/a/{p1}/**' },
    ];
    const document = describeRoutes(planned(routes));
    const { paths } = document;
    expect(paths['/a/{p1}/{rest}'].get['x-route']).toBe('all');
    expect(paths['/a/b/{rest}'].get['x-route']).toBe('middle');
    expect(paths['/a/b/{rest}'].put['x-route']).toBe('left');
    expect(paths['/a/b'].get['x-route']).toBe('middle');
    expect(findOperation(document, 'GET', '/a/b/b')?.['x-route']).toBe('middle');
  });

  it('adds a common path for a method that the more specific path does not have', () => {
    const routes = [
      { id: 'new', method: 'POST', path: '/items/{id}' },
      { id: 'view', path: '/{kind}/view' },
    ];
    const { paths } = describeRoutes(planned(routes));
    expect(Object.keys(paths)).toEqual(['/items/{id}', '/{kind}/view', '/items/view']);
    expect(paths['/items/view'].get).toMatchObject({ 'x-route': 'view' });
    expect(paths['/items/view'].post).toMatchObject({ 'x-route': 'new' });
  });

  it('adds no path if the more specific path has the methods itself', () => {
    const routes = [
      { id: 'item', path: '/items/{id}' },
      { id: 'view', path: '/{kind}/view' },
    ];
    expect(Object.keys(describeRoutes(planned(routes))['paths'])).toEqual(['/items/{id}', '/{kind}/view']);
  });

  it('adds at most 10,000 common paths', () => {
    const routes = Array.from({ length: 120 }, (_, index) => [
      { id: `left-${index}`, path: `/a${index}/{p}` },
      { id: `right-${index}`, method: 'PUT', path: `/{p}/b${index}` },
    ]).flat();
    const { templates } = runToEnd(createPathTemplates(planned(routes).plan));
    expect(templates).toHaveLength(240 + 10_000);
  });

  it('has the methods that the router accepts, for random manifests', () => {
    fc.assert(
      fc.property(anyManifest, (manifest) => {
        const { plan } = load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, worldOf());
        fc.pre(plan !== undefined);
        const { paths } = describeRoutes(loaded(manifest));
        for (const [path, item] of Object.entries(paths as Record<string, Json>))
          for (const method of HTTP_METHODS) {
            const route = plan?.router.match(method, path.replaceAll(/\{[^}]*\}/g, 'no-literal'));
            expect([path, method, operationOf(item, method)?.['x-route']]).toEqual([path, method, route?.id]);
          }
      }),
    );
  });

  it('has HEAD only if the route of GET does not receive it', () => {
    const routes = [
      { id: 'items', path: '/items' },
      { id: 'files', path: '/files' },
      { id: 'files-head', method: 'HEAD', path: '/files' },
    ];
    const { paths } = describeRoutes(planned(routes));
    expect(Object.keys(paths['/items'])).toEqual(['get']);
    expect(paths['/items'].get.operationId).toBe('items');
    expect(paths['/files']).toMatchObject({ get: { 'x-route': 'files' }, head: { 'x-route': 'files-head' } });
  });

  it('keeps a parameter of the route that has the name of a rest', () => {
    const { paths } = describeRoutes(planned([{ id: 'files', path: '/{rest}/**' }]));
    expect(Object.keys(paths)).toEqual(['/{rest}', '/{rest}/{rest_}']);
  });
});

describe('operation ids', () => {
  it('are the ids of the routes, with a number where two would be equal', () => {
    const routes = [
      { id: 'items', method: ['GET', 'PATCH'], path: '/items' },
      { id: 'items-get', method: 'POST', path: '/items' },
      { id: 'items-patch', method: 'PUT', path: '/items' },
    ];
    const ids = operationsOf(describeRoutes(planned(routes))).map(([, , { operationId }]) => operationId);
    expect(ids.sort()).toEqual(['items-get', 'items-get-2', 'items-patch', 'items-patch-2']);
  });

  it('skip the numbers that ids of routes have', () => {
    const routes = [
      { id: 'files', method: 'POST', path: '/files/**' },
      { id: 'files-2', method: 'POST', path: '/a' },
      { id: 'new', method: 'PUT', path: '/files/{id}' },
      { id: 'newer', method: 'PUT', path: '/files/{id}/b' },
    ];
    const operations = operationsOf(describeRoutes(planned(routes)));
    const ids = operations.map(([path, method, { operationId }]) => `${method} ${path} ${operationId}`);
    expect(ids.filter((id) => id.startsWith('post /files'))).toEqual([
      'post /files files-3',
      'post /files/{id} files',
      'post /files/{id}/b files-4',
    ]);
  });
});

describe('headers', () => {
  it('lists headers that OpenAPI ignores as parameters under an extension', () => {
    const headers = { properties: { accept: { const: 'application/json' }, 'X-Tenant': { type: 'string' } } };
    const { get } = describeRoutes(planned([{ id: 'items', path: '/items', headers }]))['paths']['/items'];
    expect(get.parameters).toMatchObject([{ name: 'X-Tenant', in: 'header' }]);
    expect(get['x-headers']).toMatchObject([{ name: 'accept', schema: { const: 'application/json' } }]);
  });
});

describe('query', () => {
  it('describes a parameter of the list of repeated ones as an array', () => {
    const query = { properties: { tag: { type: 'string' }, page: { type: 'integer' } }, repeated: ['tag'] };
    const { get } = describeRoutes(planned([{ id: 'items', path: '/items', query }]))['paths']['/items'];
    expect(get.parameters).toEqual([
      { name: 'tag', in: 'query', required: false, schema: { type: 'array', items: { type: 'string' } } },
      { name: 'page', in: 'query', required: false, schema: { type: 'integer' } },
    ]);
  });
});

it('reads the media type of a response of the gateway itself from its header only', () => {
  const headers = { 'X-Missing': 'Content-Type', 'X-Next': 'next', 'content-type': 'text/html' };
  const own = { id: 'ended', path: '/ended', upstream: undefined, respond: { status: 410, body: 'x', headers } };
  const { responses } = describeRoutes(planned([own]))['paths']['/ended'].get;
  expect(Object.keys(responses['410'].content)).toEqual(['text/html']);
});

describe('bodies', () => {
  const bodyOf = (body: object) => {
    const routes = [{ id: 'new', method: ['GET', 'POST'], path: '/items', body }];
    const { get, post } = describeRoutes(planned(routes))['paths']['/items'];
    expect(get).not.toHaveProperty('requestBody');
    return post.requestBody;
  };

  it('accepts any media type only if the route does', () => {
    expect(bodyOf({ maxBytes: '1KB' })).toEqual({ required: false, content: { '*/*': {} }, 'x-limit-bytes': 1024 });
    expect(bodyOf({ types: ['text/*'] })).toMatchObject({ required: false, content: { 'text/*': {} } });
    expect(bodyOf({ csv: { header: ['a'] } })).toMatchObject({ required: true, content: { 'text/csv': {} } });
    expect(Object.keys(bodyOf({ csv: { header: ['a'] } }).content)).toEqual(['text/csv']);
    expect(Object.keys(bodyOf({ types: ['text/html', 'TEXT/html'] }).content)).toEqual(['text/html']);
    expect(bodyOf({ schema: { type: 'object' } })).toMatchObject({
      required: true,
      content: { 'application/json': { schema: { type: 'object' } } },
    });
  });

  it('describes the parts of a form', () => {
    const parts = {
      file: { maxBytes: '1MB', types: ['application/pdf', 'image/png'], required: true },
      note: { maxBytes: '1KB', maxCount: 3 },
    };
    expect(bodyOf({ multipart: { parts } }).content).toEqual({
      'multipart/form-data': {
        schema: {
          type: 'object',
          required: ['file'],
          properties: { file: {}, note: { type: 'array', items: {}, maxItems: 3 } },
          additionalProperties: false,
        },
        encoding: { file: { contentType: 'application/pdf, image/png' } },
      },
    });
  });
});

/** Finds the operation of a request as a reader of the document does: the most specific path that has the method. */
function findOperation(document: Json, method: string, path: string): Json | undefined {
  const wanted = path.split('/').slice(1);
  const candidates = Object.entries(document['paths'] as Record<string, Json>).flatMap(([template, item]) => {
    const operation = operationOf(item, method);
    const segments = template.split('/').slice(1);
    const hasRest = operation?.['parameters']?.some((parameter: Json) => parameter['x-rest'] === true);
    const matches =
      (hasRest ? wanted.length >= segments.length : wanted.length === segments.length) &&
      segments.every((segment, at) => (segment.startsWith('{') ? wanted[at] !== '' : segment === wanted[at]));
    if (operation === undefined || !matches) return [];
    // An exact path comes first, then from left to right literals, parameters, the rest.
    const kinds = segments.map((segment, at) =>
      segment.startsWith('{') ? (hasRest && at === segments.length - 1 ? 'c' : 'b') : 'a',
    );
    return [{ operation, rank: kinds.join('') }];
  });
  return candidates.sort((one, other) => (one.rank < other.rank ? -1 : 1))[0]?.operation;
}

describe('rate limits', () => {
  const limits = {
    stores: { counters: { redis: 'redis://127.0.0.1:6379', secret: '${SECRET}', onFailure: 'refuse' } },
    rateLimits: {
      enforced: { key: { header: 'X-A' }, missing: 'refuse', allow: '5 per 1m', store: 'counters' },
      reported: { key: 'client', allow: '5 per 1m', mode: 'report' },
    },
  };
  const responsesOf = (rateLimits: readonly string[]) => {
    const { paths, components } = describeRoutes(planned([{ id: 'a', path: '/a', rateLimits }], limits));
    const { responses } = paths['/a'].get;
    return ['4XX', '5XX'].map((range) => components.responses[responses[range].$ref.split('/').at(-1)]);
  };

  it('describes 429 with Retry-After, and the refusals of a missing key and of a store', () => {
    const [client, server] = responsesOf(['enforced', 'reported']);
    expect(client.description).toContain('- 429 `rate_limit_exceeded`: ');
    expect(client.headers).toMatchObject({ 'Retry-After': { schema: { type: 'integer' } } });
    expect(client.description).toContain('- 400 `rate_limit_key_missing`: ');
    expect(server.description).toContain('- 503 `rate_limit_unavailable`: ');
    expect(server.headers).toBeUndefined();
  });

  it('describes no refusal by a limit that only reports', () => {
    const [client] = responsesOf(['reported']);
    expect(client.description).not.toContain('rate_limit');
    expect(client.headers).toBeUndefined();
  });
});

describe('responses', () => {
  it('are shared by routes with the same refusals', () => {
    const routes = ['a', 'b', 'c'].map((id) => ({ id, path: `/${id}` }));
    const { paths, components } = describeRoutes(
      planned([...routes, { id: 'd', path: '/d', body: {}, method: 'PUT' }]),
    );
    const [a, b, c] = ['a', 'b', 'c'].map((id) => paths[`/${id}`].get.responses);
    expect([b, c]).toEqual([a, a]);
    expect(a).toEqual({
      '2XX': { $ref: '#/components/responses/Upstream' },
      '4XX': { $ref: '#/components/responses/Refusals4XX' },
      '5XX': { $ref: '#/components/responses/Refusals5XX' },
    });
    expect(paths['/d'].put.responses['4XX'].$ref).toBe('#/components/responses/Refusals4XX-2');
    expect(components.responses['Refusals4XX-2'].description).toContain('- 413 `body_too_large`: ');
    expect(components.responses.Refusals4XX.description).not.toContain('body_too_large');
  });

  it('make a document of 1,000 routes smaller than 600 bytes for each', () => {
    const routes = Array.from({ length: 1_000 }, (_, index) => ({ id: `r${index}`, path: `/r${index}` }));
    const text = [...streamOpenApi(planned(routes), '1')].join('');
    expect(text.length / 1_000).toBeLessThan(450);
  });
});

describe('servers', () => {
  it.each([
    [{}, 'http://127.0.0.1:8080'],
    [{ listen: '0.0.0.0:9000' }, 'http://localhost:9000'],
    [{ listen: '[::]:9000' }, 'http://localhost:9000'],
    [{ listen: '[::1]:9000' }, 'http://[::1]:9000'],
    [{ listen: 'gateway.internal:80' }, 'http://gateway.internal:80'],
    [{ listen: '127.0.0.1:0' }, 'http://127.0.0.1'],
  ])('with %j have the URL %s', (others, url) => {
    expect(describeRoutes(planned([{ id: 'a', path: '/a' }], others))['servers']).toEqual([
      { url, description: expect.stringContaining('listen') },
    ]);
  });
});

it('operations have a readable summary, who may call them, and a tag that is described', () => {
  const auth = {
    tokens: { jwt: { jwks: 'https://a/keys', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
    role: { claim: '/role', allow: ['admin', 'user'], message: 'no' },
  };
  const routes = [
    { id: 'import-status', path: '/a', access: 'protected' },
    { id: 'open', path: '/b' },
    { id: 'login', path: '/c', method: 'POST', login: {} },
  ];
  const { paths, tags, security } = describeRoutes(planned(routes, { auth }));
  expect(security).toEqual([{ token: [] }]);
  expect(paths['/a'].get).toMatchObject({
    summary: 'Import status',
    description: 'Roles: admin, user.',
    tags: ['up'],
  });
  expect(paths['/b'].get).toMatchObject({ description: 'Public.', security: [] });
  expect(paths['/c'].post.description).toBe('Public. Roles of the token in the response: admin, user.');
  expect(tags).toEqual([{ name: 'up', description: 'Routes to the upstream "up".' }]);
});

it('a list without a schema for its items has one that accepts any', () => {
  const schema = { type: 'object', properties: { list: { type: 'array', maxItems: 3 } } };
  const routes = [{ id: 'a', path: '/a', method: 'POST', body: { schema } }];
  const body = describeRoutes(planned(routes))['paths']['/a'].post.requestBody;
  expect(body.content['application/json'].schema.properties.list).toEqual({ type: 'array', maxItems: 3, items: {} });
});

describe('any crossing routes', () => {
  const METHODS = ['GET', 'POST', 'PUT', 'DELETE'];
  const part = fc.constantFrom('a', 'b', '{}');
  const route = fc
    .record({
      parts: fc.array(part, { maxLength: 4 }),
      hasRest: fc.boolean(),
      method: fc.oneof(fc.subarray(METHODS, { minLength: 1 }), fc.constant('any')),
    })
    .map(({ parts, hasRest, method }) => {
      const named = parts.map((text, at) => (text === '{}' ? `{p${at}}` : text));
      return { path: `/${[...named, ...(hasRest ? ['**'] : [])].join('/')}`, method };
    });
  const key = ({ path }: { path: string }) => path.replaceAll(/\{\w+\}/g, '{}');
  const routes = fc
    .uniqueArray(route, { selector: key, minLength: 1, maxLength: 12 })
    .map((list) => list.map((entry, index) => ({ id: `r${index}`, ...entry })));
  const urls = ['/', ...[1, 2, 3, 4, 5].flatMap((length) => pathsOf(length, ['a', 'b', 'other']))];

  it('have paths for readers that select by method and path', () => {
    fc.assert(
      fc.property(routes, (list) => {
        const manifest = planned(list);
        const document = withPathParameters(describeRoutes(manifest));
        for (const url of urls)
          for (const method of METHODS) {
            const route = manifest.plan.router.match(method, url);
            expect([method, url, findOperation(document, method, url)?.['x-route']]).toEqual([method, url, route?.id]);
          }
      }),
      { numRuns: runs(100) },
    );
  });

  it('have paths for readers that select the path first, if no route has a rest', () => {
    fc.assert(
      fc.property(
        routes.map((list) => list.filter(({ path }) => !path.endsWith('**'))).filter((list) => list.length > 0),
        (list) => {
          const manifest = planned(list);
          const { paths } = withPathParameters(describeRoutes(manifest));
          for (const url of urls)
            for (const method of METHODS) {
              const operation = paths[findPath(Object.keys(paths), url) ?? '']?.[method.toLowerCase()];
              const route = manifest.plan.router.match(method, url);
              expect([method, url, operation?.['x-route']]).toEqual([method, url, route?.id]);
            }
        },
      ),
      { numRuns: runs(100) },
    );
  });

  /** Returns the most specific path without a look at its methods. */
  function findPath(templates: readonly string[], url: string): string | undefined {
    const wanted = url.split('/');
    const rankOf = (template: string) => template.replaceAll(/\{\w+\}/g, '~');
    return templates
      .filter((template) => {
        const segments = template.split('/');
        const fits = segments.every((text, at) => text === wanted[at] || (text.startsWith('{') && wanted[at] !== ''));
        return segments.length === wanted.length && fits;
      })
      .sort((one, other) => (rankOf(one) < rankOf(other) ? -1 : 1))[0];
  }
});

/** Returns all paths of a length. */
function pathsOf(length: number, parts: readonly string[]): string[] {
  return length === 0 ? [''] : pathsOf(length - 1, parts).flatMap((start) => parts.map((part) => `${start}/${part}`));
}

describe('any manifest', () => {
  const PARTS = ['a', 'b', 'Admin', 'x.y', '7', 'other'];
  const paths = ['/', ...[1, 2, 3, 4].flatMap((length) => pathsOf(length, PARTS))];

  it('has the routes that receive the requests, unique operation ids, and every path parameter', () => {
    fc.assert(
      fc.property(
        anyManifest,
        fc.array(fc.constantFrom(...paths), { minLength: 40, maxLength: 40 }),
        (manifest, urls) => {
          const result = load({ path: 'gateway.yaml', text: JSON.stringify(manifest) }, worldOf());
          if (result.plan === undefined) return;
          const document = withPathParameters(describeRoutes(result));
          const operations = operationsOf(document);
          const ids = operations.map(([, , { operationId }]) => operationId);
          expect(ids).toEqual([...new Set(ids)]);
          const keys = Object.keys(document['paths']).map((path) => path.replaceAll(/\{[^}]*\}/g, '{}'));
          expect(keys).toEqual([...new Set(keys)]);
          for (const [path, , operation] of operations) {
            const inPath = (operation['parameters'] ?? []).filter((parameter: Json) => parameter['in'] === 'path');
            expect(inPath.map(({ name }: Json) => `{${name}}`).sort()).toEqual((path.match(/\{[^}]*\}/g) ?? []).sort());
          }
          const requests = urls.flatMap((url) => HTTP_METHODS.map((method) => [method, url] as const));
          expect(
            requests.map(([method, url]) => [method, url, findOperation(document, method, url)?.['x-route']]),
          ).toEqual(requests.map(([method, url]) => [method, url, result.plan.router.match(method, url)?.id]));
        },
      ),
      { numRuns: runs(150) },
    );
  });
});
