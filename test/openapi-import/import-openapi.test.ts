import { describe, expect, it, test } from 'vitest';
import { parse } from 'yaml';
import { load } from '../../src/engine/load.ts';
import { sizeBytes } from '../../src/engine/manifest/units.ts';
import { streamOpenApi } from '../../src/openapi/export/stream-openapi.ts';
import { createSchemaConverter } from '../../src/openapi/import/convert-schema.ts';
import { importOpenApi } from '../../src/openapi/import/import-openapi.ts';
import type { ImportOptions } from '../../src/openapi/import/imported-route.ts';
import { OpenApiError, readOpenApi } from '../../src/openapi/import/openapi-document.ts';
import { writeRoutes } from '../../src/openapi/import/write-routes.ts';
import { AUTH } from '../manifest/support.ts';

const OPTIONS: ImportOptions = { upstream: 'api', prefix: '', access: 'protected', roles: new Map() };

/** Imports a document. Returns the routes and schemas of the written file, and each loss with its place. */
function importDocument(value: object | string, options: Partial<ImportOptions> = {}) {
  const text = typeof value === 'string' ? value : JSON.stringify({ openapi: '3.1.0', info: {}, ...value });
  const document = readOpenApi({ path: 'openapi.yaml', text });
  const imported = importOpenApi(document, { ...OPTIONS, ...options });
  const written = writeRoutes(imported);
  const { routes, schemas } = parse(written) as { routes: Record<string, unknown>[]; schemas?: object };
  const losses = imported.losses.map(({ path, effect, message }) => `${effect} ${path.join('/')}: ${message}`);
  return { routes, schemas, losses, written, imported, document };
}

const operation = (value: object) => ({ paths: { '/a': { post: value } } });
const query = (parameter: object) => operation({ parameters: [{ name: 'a', in: 'query', ...parameter }] });
const body = (content: object, more: object = {}) => operation({ requestBody: { required: true, content, ...more } });
const json = (schema: object) => body({ 'application/json': { schema } });

describe('a document of version 3.0', () => {
  it('allows null where nullable has a type beside it, and reports it elsewhere', () => {
    const { routes, losses } = importDocument({
      openapi: '3.0.3',
      ...json({
        properties: {
          a: { nullable: true, type: 'string' },
          b: { nullable: true, oneOf: [{ type: 'string' }, { type: 'number' }] },
          c: { nullable: true },
        },
      }),
    });
    const properties = {
      a: { type: ['string', 'null'] },
      b: { oneOf: [{ type: 'string' }, { type: 'number' }] },
      c: {},
    };
    expect(routes).toMatchObject([{ body: { schema: { properties } } }]);
    expect(losses).toEqual([
      expect.stringMatching(/^stricter paths.*\/properties\/b: nullable has no effect without a type beside it/),
    ]);
  });
});

describe('a document of version 3.2', () => {
  const importNew = (value: object) => importDocument({ openapi: '3.2.0', ...value });

  it('is read like one of version 3.1', () => {
    const value = {
      ...json({ type: ['object', 'null'], properties: { a: { type: 'string', nullable: true } } }),
      security: [{ oauth: [] }],
      components: { securitySchemes: { oauth: { type: 'oauth2', flows: { deviceAuthorization: {} } } } },
    };
    const { routes, losses } = importNew(value);
    expect({ routes, losses }).toEqual(
      (({ routes, losses }) => ({ routes, losses }))(importDocument({ openapi: '3.1.1', ...value })),
    );
    expect(routes).toHaveLength(1);
  });

  it('has its parts reported that routes do not have', () => {
    const { routes, losses } = importNew({
      $self: 'https://api.example/openapi',
      tags: [{ name: 'a' }, { name: 'b', parent: 'a', kind: 'nav' }],
      paths: {
        '/a': { get: {}, query: { operationId: 'search' }, additionalOperations: { LINK: {}, UNLINK: {} } },
      },
    });
    expect(routes.map(({ method }) => method)).toEqual(['GET']);
    expect(losses).toEqual([
      'stricter paths//a/query: no route can have the method QUERY',
      'stricter paths//a/additionalOperations/LINK: no route can have the method LINK',
      'stricter paths//a/additionalOperations/UNLINK: no route can have the method UNLINK',
      'none $self: the address of the document is not used; references into it begin with "#"',
      'none tags/1/parent: routes have no tags, and no groups of them',
    ]);
  });

  it('has items of a body reported, which the gateway does not validate', () => {
    const { routes, losses } = importNew(body({ 'application/jsonl': { itemSchema: { type: 'object' } } }));
    expect(routes).toMatchObject([{ body: { types: ['application/jsonl'] } }]);
    expect(losses).toContain(
      'looser paths//a/post/requestBody/content/application/jsonl: "itemSchema" of a body is not read; the gateway does not validate its items',
    );
    expect(importNew(body({ '*/*': { itemSchema: {} } })).losses.join()).toContain(
      '"itemSchema" of a body is not read',
    );
  });

  it('may have a media type by reference', () => {
    const { routes, losses } = importNew({
      ...body({ 'application/json': { $ref: '#/components/mediaTypes/Note' } }),
      components: { mediaTypes: { Note: { schema: { type: 'object', required: ['text'], nullable: true } } } },
    });
    expect(routes).toMatchObject([{ body: { schema: { type: 'object', required: ['text'] } } }]);
    expect(losses).toEqual([expect.stringMatching(/^stricter components\/mediaTypes\/Note\/schema: nullable/)]);
  });

  it('has a parameter of the whole query reported', () => {
    const { losses } = importNew(
      operation({ parameters: [{ name: 'q', in: 'querystring', content: { 'application/json': {} } }] }),
    );
    expect(losses).toEqual([expect.stringMatching(/^looser .*"q" is not validated: its location is unknown$/)]);
  });

  it('is the last version that is read', () => {
    expect(() => importDocument({ openapi: '3.3.0', paths: {} })).toThrow('2.0, 3.0, 3.1 or 3.2');
  });
});

describe('merge keys', () => {
  const DOCUMENT = `openapi: 3.0.3
info: {}
x-common: &common
  summary: common
  parameters: [{ name: page, in: query, schema: { type: integer } }]
x-secured: &secured { security: [{ oauth: [] }], summary: secured }
x-both: &both { <<: *common, security: [] }
paths:
  /a: { get: { <<: *common, summary: own, security: [] } }
  /b:
    get:
      summary: own
      <<: [*secured, *common]
  /c: { get: *both }
components:
  securitySchemes: { oauth: { type: oauth2, flows: {} } }
`;

  it('are resolved: own members first, then earlier maps', () => {
    const { routes, written, losses } = importDocument(DOCUMENT);
    expect(routes.map(({ path, access }) => [path, access])).toEqual([
      ['/a', 'public'],
      ['/b', 'protected'],
      ['/c', 'public'],
    ]);
    for (const route of routes) expect(route).toMatchObject({ query: { properties: { page: { type: 'integer' } } } });
    expect(written.match(/# \w+/g)).toEqual(['# own', '# own', '# common']);
    expect(losses).toEqual([]);
  });

  it('do not make places of other values wrong', () => {
    const { document, imported } = importDocument(DOCUMENT.replace('/b:', '/b:\n    trace: {}'));
    const [loss] = imported.losses;
    expect(loss && document.locate(loss.path, 'key')).toMatchObject({ line: 11 });
  });

  it('may be nested', () => {
    const nested = `${'{ <<: '.repeat(8)}{ security: [] }${' }'.repeat(8)}`;
    const { routes } = importDocument(`openapi: 3.1.0\npaths: { /a: { get: ${nested} } }\n`);
    expect(routes).toMatchObject([{ access: 'public' }]);
  });

  it.each(['<<: 3', '<<: [3]', '<<: [{ a: 1 }, text]'])('need maps: %s', (merge) => {
    expect(() => importDocument(`openapi: 3.1.0\npaths: { /a: { get: { ${merge} } } }\n`)).toThrow(
      new OpenApiError('a merge key ("<<") needs a map or a list of maps'),
    );
  });
});

describe('an operation', () => {
  it('becomes a route with its id, method and path', () => {
    const { routes, losses } = importDocument({
      paths: {
        '/pets/{pet-id}/': { get: { operationId: 'getPetByID', summary: 'Get a pet\nby its id' } },
        '/pets': { delete: {}, trace: {} },
      },
    });
    expect(routes).toEqual([
      { id: 'get-pet-by-id', method: 'GET', path: '/pets/{pet_id}', upstream: 'api', access: 'protected' },
      { id: 'delete-pets', method: 'DELETE', path: '/pets', upstream: 'api', access: 'protected' },
    ]);
    expect(losses).toEqual(['stricter paths//pets/trace: the gateway refuses the method TRACE']);
  });

  it('has its summary as a comment', () => {
    const { written } = importDocument(operation({ summary: 'Get a pet\u0085\nby its id' }));
    expect(written).toContain('  # Get a pet\n  - id: post-a\n');
  });

  test.each([
    'gateway-disable-next-line public-write-without-schema -- trust me',
    ' Gateway-Disable-next-line all',
    'yaml-language-server: $schema=http://127.0.0.1/x',
  ])('has no comment that lint or an editor would obey: %s', (summary) => {
    expect(importDocument(operation({ summary })).written).not.toContain('#');
  });

  it('gets a prefix and an upstream', () => {
    const { routes } = importDocument(operation({}), { prefix: '/api', upstream: 'pets' });
    expect(routes).toMatchObject([{ path: '/api/a', upstream: 'pets' }]);
  });

  it('gets a number if another one has the id', () => {
    const { routes } = importDocument({
      paths: {
        '/a': { get: { operationId: 'x' } },
        '/b': { get: { operationId: 'X' } },
        '/c': { get: { operationId: 'x2' } },
      },
    });
    expect(routes.map(({ id }) => id)).toEqual(['x', 'x-2', 'x2']);
  });

  test.each([
    ['/files/{name}.json', /a parameter is a complete segment/],
    ['/files?kind=a', /a path has no query/],
    ['files', /a path begins with a slash/],
    ['/files/*', /a "\*" has no meaning here/],
  ])('at %s has no route, and is reported', (path, message) => {
    const { routes, losses } = importDocument({ paths: { [path]: { get: {} } } });
    expect(routes ?? []).toEqual([]);
    expect(losses).toEqual([expect.stringMatching(message)]);
  });

  it('has no route if the router cannot tell it from another one', () => {
    const { routes, losses } = importDocument({ paths: { '/a/{x}': { get: {} }, '/a/{y}': { get: {} } } });
    expect(routes).toHaveLength(1);
    expect(losses).toEqual([expect.stringContaining('another operation has the same method and path')]);
  });
});

describe('security', () => {
  const oauth = { components: { securitySchemes: { o: { type: 'oauth2' }, key: { type: 'apiKey' } } } };
  const accessOf = (value: object, options?: Partial<ImportOptions>) => {
    const { routes, losses } = importDocument({ ...oauth, ...value }, options);
    return [routes[0]?.['access'], routes[0]?.['roles'], losses] as const;
  };

  test.each([
    ['nothing is stated', operation({}), 'protected'],
    ['the operation has an empty list', operation({ security: [] }), 'public'],
    ['the document has an empty list', { security: [], ...operation({}) }, 'public'],
    ['the operation overrides the document', { security: [], ...operation({ security: [{ o: [] }] }) }, 'protected'],
  ])('if %s', (_case, document, access) => {
    expect(accessOf(document)).toEqual([access, undefined, []]);
  });

  it('is that of the option only where nothing is stated', () => {
    expect(accessOf(operation({}), { access: 'public' })[0]).toBe('public');
    expect(accessOf(operation({ security: [{ o: [] }] }), { access: 'public' })[0]).toBe('protected');
  });

  it('is protected if it is optional, which is reported', () => {
    const [access, , losses] = accessOf(operation({ security: [{ o: [] }, {}] }));
    expect(access).toBe('protected');
    expect(losses).toEqual([expect.stringContaining('requests without a token are refused')]);
  });

  it('has roles for scopes that are mapped', () => {
    const roles = new Map([
      ['w', 'admin'],
      ['r', 'user'],
    ]);
    expect(accessOf(operation({ security: [{ o: ['w'] }, { o: ['r'] }] }), { roles })).toEqual([
      'protected',
      ['admin', 'user'],
      [],
    ]);
    const [, some, losses] = accessOf(operation({ security: [{ o: ['w'] }, { o: ['x'] }] }), { roles });
    expect(some).toBeUndefined();
    expect(losses).toEqual([expect.stringContaining('the scope "x" stands for no role')]);
  });

  test.each([null, { o: [] }, 'o'])('is required if it is not a list, which is reported: %j', (security) => {
    const [access, , losses] = accessOf(operation({ security }), { access: 'public' });
    expect(access).toBe('protected');
    expect(losses).toEqual([expect.stringMatching(/^stricter paths\/\/a\/post\/security: this is not a list/)]);
  });

  it('reports another scheme beside a bearer token', () => {
    expect(accessOf(operation({ security: [{ o: [], key: [] }] }))[2]).toEqual([
      'looser paths//a/post/security: the gateway verifies the token, but not the security scheme "key" beside it',
    ]);
  });

  it('may be a reference to a bearer token', () => {
    const { o } = oauth.components.securitySchemes;
    const components = { securitySchemes: { o, other: { $ref: '#/components/securitySchemes/o' } } };
    expect(accessOf({ ...operation({ security: [{ other: [] }] }), components })[2]).toEqual([]);
  });

  it('reports another scheme than a bearer token', () => {
    expect(accessOf(operation({ security: [{ key: [] }] }))[2]).toEqual([
      expect.stringContaining('the gateway requires a bearer token instead of the security scheme "key"'),
    ]);
  });
});

describe('a document of the gateway', () => {
  const OWN = {
    security: [{ token: [] }],
    'x-roles': ['admin'],
    'x-validation': 'report',
    requestBody: { content: { '*/*': {} }, 'x-limit-bytes': 65_536 },
  };

  it('has roles, limits of bodies and validation in members of its own', () => {
    const { routes, losses } = importDocument({
      ...operation(OWN),
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    });
    expect(routes).toMatchObject([{ roles: ['admin'], body: { maxBytes: '64KB' }, validation: 'report' }]);
    expect(losses).toEqual([]);
  });

  it.each([1, 1_023, 1_024, 1_048_576, 1_048_577, 3_221_225_472])('has a limit of %i bytes', (bytes) => {
    const requestBody = { content: { '*/*': {} }, 'x-limit-bytes': bytes };
    const { routes } = importDocument(operation({ security: [], requestBody }));
    const [{ body: limited }] = routes as [{ body: { maxBytes: string } }];
    expect(sizeBytes(limited.maxBytes)).toBe(bytes);
  });

  it.each([
    ['x-login', true, 'looser'],
    ['x-headers', [{ name: 'accept' }], 'looser'],
    ['x-websocket', true, 'stricter'],
  ])('has %s, which is reported', (name, value, effect) => {
    const { losses } = importDocument(operation({ security: [], [name]: value }));
    expect(losses).toEqual([expect.stringContaining(`${effect} paths//a/post/${name}: `)]);
  });
});

describe('parameters', () => {
  it('of a query are validated, and a list may be repeated', () => {
    const list = { type: 'array', items: { enum: ['x', 'y'] } };
    expect(
      importDocument(query({ required: true, schema: { type: 'integer', format: 'int32' } })).routes,
    ).toMatchObject([
      {
        query: {
          properties: { a: { type: 'integer', minimum: -2147483648, maximum: 2147483647 } },
          required: ['a'],
          repeated: 'refuse',
        },
      },
    ]);
    expect(importDocument(query({ schema: list })).routes).toMatchObject([
      { query: { properties: { a: { enum: ['x', 'y'] } }, repeated: ['a'] } },
    ]);
  });

  test.each([
    [
      { schema: { type: 'array', items: { type: 'string' } }, explode: false },
      { properties: { a: {} }, repeated: 'refuse' },
    ],
    [
      { schema: { type: 'array' }, style: 'pipeDelimited' },
      { properties: { a: {} }, repeated: 'refuse' },
    ],
    [
      { content: { 'application/json': {} }, required: true },
      { properties: { a: {} }, required: ['a'], repeated: 'refuse' },
    ],
    [{ schema: { type: 'object' }, style: 'deepObject', required: true }, { properties: {} }],
    [{ schema: { type: 'object', properties: {} }, required: true }, { properties: {} }],
  ])('%j are reported where the gateway cannot read them', (parameter, rules) => {
    const { routes, losses } = importDocument(query(parameter));
    expect(routes[0]?.['query']).toEqual(rules);
    expect(losses).toEqual([expect.stringMatching(/^looser paths\/\/a\/post\/parameters\/0: .*"a"/)]);
  });

  it('of a path and of headers are validated; OpenAPI ignores some headers', () => {
    const parameters = [
      { name: 'x-id', in: 'path', required: true, schema: { type: 'integer' } },
      { name: 'free', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'X-Tenant', in: 'header', required: true, schema: { maxLength: 3 } },
      { name: 'Authorization', in: 'header', schema: { maxLength: 3 } },
    ];
    const { routes, losses } = importDocument({ paths: { '/{x-id}/{free}': { parameters, get: {} } } });
    expect(routes[0]).toMatchObject({
      path: '/{x_id}/{free}',
      params: { properties: { x_id: { type: 'integer' } } },
      headers: { properties: { 'X-Tenant': { maxLength: 3 } }, required: ['X-Tenant'] },
    });
    expect(routes[0]?.['params']).toEqual({ properties: { x_id: { type: 'integer' } } });
    expect(losses).toEqual([]);
  });

  it('of an operation replace those of its path, and may be components', () => {
    const { routes } = importDocument({
      components: { parameters: { P: { name: 'a', in: 'query', schema: { type: 'boolean' } } } },
      paths: {
        '/a': {
          parameters: [{ name: 'a', in: 'query', schema: { type: 'integer' } }],
          get: { parameters: [{ $ref: '#/components/parameters/P' }] },
        },
      },
    });
    expect(routes[0]).toMatchObject({ query: { properties: { a: { type: 'boolean' } } } });
  });

  it('may appear twice beside the members of a map, which is reported', () => {
    const parameters = [
      { name: 'map', in: 'query', style: 'deepObject', schema: { type: 'object' } },
      { name: 'page', in: 'query', schema: { type: 'integer' } },
    ];
    const { routes, losses } = importDocument(operation({ parameters }));
    expect(routes[0]?.['query']).toEqual({ properties: { page: { type: 'integer' } } });
    expect(losses).toEqual([
      expect.stringContaining('the members of the parameter "map" are not validated'),
      expect.stringContaining('a parameter may appear twice in this query, because the members of "map" may'),
    ]);
  });

  it('in cookies are reported', () => {
    expect(importDocument(operation({ parameters: [{ name: 'sid', in: 'cookie' }] })).losses).toEqual([
      expect.stringContaining('the cookie "sid" is not validated'),
    ]);
  });
});

describe('a body', () => {
  it('of JSON has a schema with the components that it uses, without annotations', () => {
    const { routes, schemas, losses } = importDocument({
      ...json({ $ref: '#/components/schemas/A' }),
      components: {
        schemas: {
          A: {
            type: 'object',
            title: 'A',
            properties: { b: { $ref: '#/components/schemas/B' } },
            'x-a': 1,
            example: {},
          },
          B: { type: 'string', maxLength: 3, description: 'kept', default: 'b' },
          C: { type: 'integer' },
        },
      },
    });
    expect(routes[0]?.['body']).toEqual({ schema: { $ref: '#/schemas/A' } });
    expect(schemas).toEqual({
      A: { type: 'object', properties: { b: { $ref: '#/schemas/B' } } },
      B: { type: 'string', maxLength: 3, description: 'kept' },
    });
    expect(losses).toEqual([]);
  });

  it('does not require members that only responses have', () => {
    const schema = { type: 'object', required: ['id', 'name'], properties: { id: { readOnly: true }, name: {} } };
    const { routes } = importDocument(json(schema));
    expect(routes[0]).toMatchObject({ body: { schema: { required: ['name'] } } });
  });

  test.each([
    ['a pattern without linear time', { type: 'string', pattern: '(?=a)b' }, { type: 'string' }],
    ['a pattern in a condition', { type: 'string', not: { pattern: '(?=a)b' } }, { type: 'string' }],
    ['an unknown format', { type: 'string', format: 'weird' }, { type: 'string' }],
  ])('with %s is reported, and loses only that', (_case, schema, expected) => {
    const { routes, losses } = importDocument(json({ type: 'object', properties: { a: schema } }));
    expect(routes[0]).toMatchObject({ body: { schema: { properties: { a: expected } } } });
    expect(losses).toEqual([expect.stringContaining('this is not validated, because the gateway refuses it')]);
    expect(losses[0]).toContain('paths//a/post/requestBody/content/application/json/schema/properties/a/');
  });

  it('with "${" stays the same text', () => {
    const { written, imported } = importDocument(json({ enum: ['${HOME}'] }));
    expect(written).toContain('$${HOME}');
    expect(imported.losses).toEqual([]);
  });

  it('is strict or reported if it has several media types', () => {
    const schema = { type: 'object' };
    const { routes, losses } = importDocument(body({ 'application/json': { schema }, 'text/csv': {} }));
    expect(routes[0]?.['body']).toEqual({ schema });
    expect(losses).toEqual([expect.stringContaining('stricter paths//a/post/requestBody/content/text/csv: ')]);
    expect(importDocument(body({ 'application/vnd.a+json; v=1': { schema } })).routes[0]?.['body']).toEqual({
      types: ['application/vnd.a+json'],
      schema,
    });
  });

  it('without a schema has its media types', () => {
    const { routes, losses } = importDocument(body({ 'text/csv': {}, 'image/*': {} }));
    expect(routes[0]?.['body']).toEqual({ types: ['text/csv', 'image/*'] });
    expect(losses).toHaveLength(2);
    expect(importDocument(body({ '*/*': {} })).routes[0]).not.toHaveProperty('body');
  });

  it('of a form has its parts', () => {
    const schema = {
      type: 'object',
      required: ['file'],
      additionalProperties: false,
      properties: { file: { type: 'string' }, tags: { type: 'array', maxItems: 3 } },
    };
    const encoding = { file: { contentType: 'image/png, image/jpeg' } };
    const { routes, losses } = importDocument(body({ 'multipart/form-data': { schema, encoding } }));
    expect(routes[0]?.['body']).toEqual({
      multipart: { parts: { file: { types: ['image/png', 'image/jpeg'], required: true }, tags: { maxCount: 3 } } },
    });
    expect(losses).toEqual([expect.stringContaining('does not validate the values of the parts')]);
  });

  it('that is optional is required, which is reported', () => {
    const { losses } = importDocument(body({ 'application/json': { schema: {} } }, { required: false }));
    expect(losses).toEqual([expect.stringContaining('the body is optional in the document')]);
  });

  it('with a schema that contains itself loads', () => {
    const { imported } = importDocument({
      ...json({ $ref: '#/components/schemas/Node' }),
      components: {
        schemas: { Node: { type: 'object', properties: { next: { $ref: '#/components/schemas/Node' } } } },
      },
    });
    expect(imported.routes).toHaveLength(1);
  });
});

describe('a document', () => {
  it('may have a long chain of schemas', () => {
    const schemas = Array.from({ length: 5000 }, (_, at) => [
      `S${at}`,
      { properties: { next: { $ref: `#/components/schemas/S${(at + 1) % 5000}` } } },
    ]);
    const value = { openapi: '3.1.0', paths: {}, components: { schemas: Object.fromEntries(schemas) as object } };
    const document = readOpenApi({ path: 'openapi.yaml', text: JSON.stringify(value) });
    const converter = createSchemaConverter(document, () => undefined);
    expect(converter.convert({ $ref: '#/components/schemas/S0' }, [])).toEqual({ $ref: '#/schemas/S0' });
    expect(converter.schemas.size).toBe(5000);
  });

  const V2 = `swagger: '2.0'
info: { title: a, version: '1' }
basePath: /v1
consumes: [application/json]
paths:
  /notes/{id}:
    put:
      parameters:
        - { name: id, in: path, required: true, type: integer }
        - { name: note, in: body, required: true, schema: { $ref: '#/definitions/Note' } }
      responses: { 200: { description: ok } }
definitions:
  Note: { type: object, properties: { text: { type: string, format: weird } } }
`;

  it('of version 2.0 is converted, with the places of the original', () => {
    const { routes, schemas, imported, document } = importDocument(V2);
    expect(routes[0]).toMatchObject({
      path: '/notes/{id}',
      params: { properties: { id: { type: 'integer' } } },
      body: { schema: { $ref: '#/schemas/Note' } },
    });
    expect(schemas).toEqual({ Note: { type: 'object', properties: { text: { type: 'string' } } } });
    const loss = imported.losses.find(({ message }) => message.includes('weird'));
    expect(loss && document.locate(loss.path)).toMatchObject({ line: 13, column: 69 });
  });

  it('of version 3.0 may have null', () => {
    const { routes } = importDocument({ ...json({ type: 'string', nullable: true }), openapi: '3.0.3' });
    expect(routes[0]).toMatchObject({ body: { schema: { type: ['string', 'null'] } } });
  });

  it('may have keys that are numbers, and texts that look like them', () => {
    const { routes } = importDocument(`openapi: 3.0
info: { title: 'a, 200: b', version: 1 }
paths:
  /a:
    get:
      parameters: [{ name: a, in: query, schema: { enum: ['{404: b}'] }, examples: { 1: { value: 2 } } }]
      responses: { 200: { description: a }, 404: { description: b } }
`);
    expect(routes).toMatchObject([{ query: { properties: { a: { enum: ['{404: b}'] } } } }]);
  });

  test.each([
    ['another document', 'a: 1\n', 'is not an OpenAPI document'],
    ['a later version', 'openapi: 4.0.0\npaths: {}\n', 'is not an OpenAPI document'],
    [
      'a parameter without a location',
      'swagger: "2.0"\npaths: { /a: { get: { parameters: [{ name: a }] } } }\n',
      'cannot be',
    ],
    ['broken YAML', 'openapi: [', 'openapi.yaml:1:'],
    ['paths that are a list', 'openapi: 3.1.0\npaths: []\n', 'is not an OpenAPI document'],
  ])('that is %s is refused', (_case, text, message) => {
    expect(() => readOpenApi({ path: 'openapi.yaml', text })).toThrow(OpenApiError);
    expect(() => readOpenApi({ path: 'openapi.yaml', text })).toThrow(message);
  });

  it('reports servers, webhooks and callbacks', () => {
    const { losses } = importDocument({
      servers: [{ url: 'https://a' }],
      webhooks: { a: {} },
      ...operation({ callbacks: {}, servers: [] }),
    });
    expect(losses.map((loss) => loss.split(':')[0])).toEqual([
      'none paths//a/post/callbacks',
      'none paths//a/post/servers',
      'none servers',
      'none webhooks',
    ]);
  });

  it('that the gateway generates gives routes that load, and the same text each time', () => {
    const manifest = `version: 1
upstreams: { api: { url: http://127.0.0.1:1 } }
${AUTH}schemas: { Note: { type: object, required: [text], properties: { text: { type: string, maxLength: 9 } } } }
routes:
  - { id: open, method: GET, path: /open, upstream: api, access: public, query: { properties: { page: { type: integer } } } }
  - { id: note, method: [POST, PUT], path: '/notes/{id}', upstream: api, access: protected, body: { schema: { $ref: '#/schemas/Note' } } }
  - { id: rest, method: any, path: /files/**, upstream: api, access: protected }
`;
    const loaded = load({ path: 'gateway.yaml', text: manifest }, { env: {}, readFile: () => '' });
    if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
    const text = [...streamOpenApi(loaded, '1')].join('');
    const { written, routes } = importDocument(text);
    expect(importDocument(text).written).toBe(written);
    expect(routes.find(({ path }) => path === '/open')).toMatchObject({ access: 'public' });
    const main = manifest
      .slice(0, manifest.indexOf('schemas:'))
      .replace('version: 1', 'version: 1\ninclude: routes.yaml');
    const files = { env: {}, readFile: () => written, listFolder: () => ['routes.yaml'] };
    expect(load({ path: 'gateway.yaml', text: main }, files).problems).toEqual([]);
  });
});
