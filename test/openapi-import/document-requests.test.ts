import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { importOpenApi } from '../../src/openapi/import/import-openapi.ts';
import { readOpenApi } from '../../src/openapi/import/openapi-document.ts';
import { writeRoutes } from '../../src/openapi/import/write-routes.ts';
import { createOfflineGateway } from '../../src/prove/offline/offline-gateway.ts';
import { createOfflineRequest } from '../../src/prove/offline/request-bytes.ts';
import { StubVerifier } from '../../src/prove/offline/stub-verifier.ts';

/** A request, and whether the imported routes forward it. */
type Sample = readonly [isForwarded: boolean, method: string, url: string, body?: string, type?: string];

/** Imports a document and sends requests. Returns the results, and the effects of the losses. */
async function send(value: object, samples: readonly Sample[]) {
  const text = JSON.stringify({ openapi: '3.1.0', info: {}, security: [], ...value });
  const options = { upstream: 'api', prefix: '', access: 'protected', roles: new Map() } as const;
  const imported = importOpenApi(readOpenApi({ path: 'openapi.yaml', text }), options);
  const main = 'version: 1\ninclude: routes.yaml\nupstreams: { api: { url: http://127.0.0.1:1 } }\n';
  const environment = { TEXT: 'from the environment' };
  const files = { env: environment, readFile: () => writeRoutes(imported), listFolder: () => ['routes.yaml'] };
  const { plan, problems } = load({ path: 'gateway.yaml', text: main }, files);
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  const results: Sample[] = [];
  for (const [, ...request] of samples) {
    const [method, url, body, type = 'application/json'] = request;
    const headers = body === undefined ? [] : ['Content-Type', type];
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const exchange = createOfflineGateway(plan, new StubVerifier());
    const { upstreamRequest } = await exchange(createOfflineRequest(method, url, headers, bytes));
    results.push([upstreamRequest !== undefined, ...request]);
  }
  return { results, effects: [...new Set(imported.losses.map(({ effect }) => effect))].sort() };
}

const operation = (value: object, method = 'post') => ({ paths: { '/a': { [method]: value } } });
const body = (content: object, required = true) => operation({ requestBody: { required, content } });
const json = (schema: unknown) => body({ 'application/json': { schema } });
const query = (...parameters: object[]) =>
  operation({ parameters: parameters.map((one) => ({ name: 'a', in: 'query', ...one })) }, 'get');
const schemas = (value: object) => ({ components: { schemas: value } });
const version2 = (paths: object, more: object = {}) => ({ openapi: undefined, swagger: '2.0', ...more, paths });

const post = (isForwarded: boolean, value: unknown): Sample => [isForwarded, 'POST', '/a', JSON.stringify(value)];
const get = (isForwarded: boolean, text: string): Sample => [isForwarded, 'GET', `/a${text}`];
const form = (isForwarded: boolean, ...names: string[]): Sample => {
  const parts = names.map((name) => `--cut\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nx\r\n`);
  return [isForwarded, 'POST', '/a', `${parts.join('')}--cut--\r\n`, 'multipart/form-data; boundary=cut'];
};

const INTEGER = { schema: { type: 'integer' } };
const LIST = { type: 'array', items: { type: 'integer' } };
const MAP = { type: 'object', properties: { b: { type: 'integer' } } };
const V30 = { openapi: '3.0.3' };
const BODY = { in: 'body', name: 'body', required: true, schema: { type: 'integer' } };
const LOOK_AHEAD = '^(?=a)';

type Case = readonly [name: string, document: object, effects: readonly string[], ...samples: Sample[]];

const PARAMETERS: readonly Case[] = [
  [
    'with a reference to a reference',
    {
      components: {
        parameters: { A: { $ref: '#/components/parameters/B' }, B: { name: 'a', in: 'query', ...INTEGER } },
      },
      ...operation({ parameters: [{ $ref: '#/components/parameters/A' }] }, 'get'),
    },
    [],
    get(true, '?a=1'),
    get(false, '?a=x'),
  ],
  ['in an unknown location', query({ in: 'Query', ...INTEGER }), ['looser'], get(true, '?a=x')],
  [
    'with a list or null',
    query({ schema: { ...LIST, type: ['array', 'null'] } }),
    [],
    get(true, '?a=1&a=2'),
    get(false, '?a=x'),
  ],
  [
    'with a nullable list',
    { ...V30, ...query({ schema: { ...LIST, nullable: true } }) },
    [],
    get(true, '?a=1&a=2'),
    get(false, '?a=x'),
  ],
  ['with a list in allOf', query({ schema: { allOf: [LIST] } }), ['looser'], get(true, '?a=1&a=2')],
  [
    'with a text or a list',
    query({ schema: { oneOf: [{ type: 'integer' }, LIST] } }),
    ['looser'],
    get(true, '?a=1&a=2'),
    get(true, '?a=1'),
  ],
  ['with lists in a list', query({ schema: { type: 'array', items: LIST } }), ['looser'], get(true, '?a=1&a=2')],
  [
    'with pipes and explode',
    query({ style: 'pipeDelimited', explode: true, schema: LIST }),
    ['looser'],
    get(true, '?a=1&a=2'),
  ],
  [
    'with a keyword beside the reference to a list',
    { ...schemas({ List: LIST }), ...query({ schema: { $ref: '#/components/schemas/List', maxItems: 1 } }) },
    ['looser'],
    get(true, '?a=1'),
  ],
  ['with a map in allOf', query({ required: true, schema: { allOf: [MAP] } }), ['looser'], get(true, '?b=1')],
  [
    'with a map or null',
    query({ required: true, schema: { ...MAP, type: ['object', 'null'] } }),
    ['looser'],
    get(true, '?b=1'),
  ],
  [
    'with a map without a type',
    query({ required: true, schema: { additionalProperties: true } }),
    ['looser'],
    get(true, '?b=1'),
  ],
  [
    'with null among texts',
    query({ schema: { type: ['string', 'null'], enum: ['x', null] } }),
    [],
    get(true, '?a=x'),
    get(false, '?a=y'),
  ],
  [
    'that may be empty',
    query({ allowEmptyValue: true, ...INTEGER }),
    [],
    get(true, '?a='),
    get(true, '?a'),
    get(true, '?a=1'),
    get(false, '?a=x'),
  ],
  [
    'that may be an empty list',
    query({ allowEmptyValue: true, schema: LIST }),
    [],
    get(true, '?a='),
    get(true, '?a=1&a=2'),
    get(false, '?a=x'),
  ],
  ['with a schema of another file', query({ schema: { $ref: 'a.yaml' } }), ['looser'], get(true, '?a=1&a=2')],
];

const SCHEMAS: readonly Case[] = [
  [
    'with nullable beside a reference',
    { ...V30, ...schemas({ A: { type: 'string' } }), ...json({ $ref: '#/components/schemas/A', nullable: true }) },
    ['stricter'],
    post(false, null),
    post(true, 'x'),
  ],
  [
    'with nullable beside allOf',
    { ...V30, ...json({ allOf: [{ type: 'string' }], nullable: true }) },
    ['stricter'],
    post(false, null),
    post(true, 'x'),
  ],
  [
    'with nullable in version 3.1',
    json({ type: 'string', nullable: true }),
    ['stricter'],
    post(false, null),
    post(true, 'x'),
  ],
  [
    'with an alternative that is nullable only',
    { ...V30, ...json({ oneOf: [{ nullable: true }, { type: 'string' }] }) },
    [],
    post(false, 'x'),
    post(true, 5),
  ],
  [
    'with keywords beside a reference in version 3.0',
    { ...V30, ...schemas({ A: { type: 'string' } }), ...json({ $ref: '#/components/schemas/A', maxLength: 1 }) },
    [],
    post(true, 'xx'),
    post(false, 1),
  ],
  [
    'with keywords beside a reference in version 3.1',
    { ...schemas({ A: { type: 'string' } }), ...json({ $ref: '#/components/schemas/A', maxLength: 1 }) },
    [],
    post(false, 'xx'),
    post(true, 'x'),
  ],
  [
    'with exclusive bounds of version 3.0',
    { ...V30, ...json({ type: 'integer', minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false }) },
    [],
    post(false, 1),
    post(true, 2),
    post(true, 9),
    post(false, 10),
  ],
  [
    'with base64 of version 3.0',
    { ...V30, ...json({ type: 'string', format: 'byte' }) },
    [],
    post(true, 'YQ=='),
    post(false, '!'),
  ],
  [
    'in a body named default',
    {
      ...V30,
      components: {
        requestBodies: {
          default: { required: true, content: { 'application/json': { schema: { type: 'string', nullable: true } } } },
        },
      },
      ...operation({ requestBody: { $ref: '#/components/requestBodies/default' } }),
    },
    [],
    post(true, null),
    post(false, 1),
  ],
  [
    'with members named like keywords',
    {
      ...V30,
      ...json({
        additionalProperties: false,
        properties: Object.fromEntries(
          ['example', 'default', 'enum', 'nullable', 'not', 'x-a', '$ref'].map((name) => [
            name,
            { type: 'string', nullable: true },
          ]),
        ),
      }),
    },
    [],
    ...['example', 'default', 'enum', 'nullable', 'not', 'x-a', '$ref'].flatMap((name) => [
      post(true, { [name]: null }),
      post(false, { [name]: 1 }),
    ]),
  ],
  [
    'with a refused pattern of a member named not',
    json({ additionalProperties: false, properties: { not: { type: 'string', pattern: LOOK_AHEAD } } }),
    ['looser'],
    post(true, { not: 'ab' }),
    post(false, { not: 1 }),
  ],
  [
    'with an example that looks like a schema',
    json({
      type: 'string',
      example: { discriminator: 1, $ref: '#/components/schemas/A' },
      'x-a': { discriminator: 1 },
    }),
    [],
    post(true, 'x'),
  ],
  [
    'with a read-only member by reference',
    {
      ...schemas({ Id: { type: 'string', readOnly: true } }),
      ...json({ type: 'object', required: ['id'], properties: { id: { $ref: '#/components/schemas/Id' } } }),
    },
    [],
    post(true, {}),
  ],
  [
    'with a read-only member in allOf',
    {
      ...schemas({ Base: { properties: { id: { readOnly: true } } } }),
      ...json({ allOf: [{ $ref: '#/components/schemas/Base' }, { required: ['id', 'name'] }] }),
    },
    [],
    post(true, { name: 1 }),
    post(false, {}),
  ],
  [
    'with a format that has bounds of its own',
    json({ type: 'integer', format: 'int32', minimum: -1e12, maximum: 5 }),
    [],
    post(false, -1e11),
    post(true, 5),
    post(false, 6),
  ],
  [
    'with a member that is no schema',
    json({ additionalProperties: false, properties: { a: null, b: { type: 'string' } } }),
    ['looser'],
    post(true, { a: 1 }),
    post(false, { c: 1 }),
  ],
  [
    'with an alternative that is no schema',
    json({ anyOf: ['text', { type: 'integer' }] }),
    ['looser'],
    post(true, 'x'),
  ],
  ['with an unknown type among others', json({ type: ['file', 'string'] }), ['looser'], post(true, 1)],
  [
    'with alternatives of other files',
    json({ oneOf: [{ $ref: 'a.yaml#/A' }, { $ref: 'b.yaml#/B' }] }),
    ['looser'],
    post(true, 'x'),
  ],
  [
    'with a condition of another file',
    json({ type: 'string', not: { $ref: 'a.yaml#/A' } }),
    ['looser'],
    post(true, 'x'),
    post(false, 1),
  ],
  [
    'with alternatives that lose a pattern',
    {
      ...schemas({ A: { type: 'string', pattern: LOOK_AHEAD }, B: { type: 'string', pattern: '^b' } }),
      ...json({ oneOf: [{ $ref: '#/components/schemas/A' }, { $ref: '#/components/schemas/B' }] }),
    },
    ['looser'],
    post(true, 'b'),
  ],
  [
    'with alternatives that lose a pattern further down',
    {
      ...schemas({ A: { properties: { c: { $ref: '#/components/schemas/C' } } }, C: { pattern: LOOK_AHEAD } }),
      ...json({ not: { $ref: '#/components/schemas/A' } }),
    },
    ['looser'],
    post(true, { c: 'b' }),
  ],
  [
    'with alternatives that lose an unknown format',
    {
      ...schemas({ A: { type: 'string', format: 'weird' } }),
      ...json({ oneOf: [{ $ref: '#/components/schemas/A' }, { type: 'integer' }] }),
    },
    ['looser'],
    post(true, 'x'),
    post(false, true),
  ],
  [
    'with other members than those of a refused pattern',
    json({ patternProperties: { [LOOK_AHEAD]: { type: 'integer' } }, additionalProperties: false }),
    ['looser'],
    post(true, { a: 1 }),
  ],
  [
    'with unevaluated members of another file',
    json({ allOf: [{ $ref: 'a.yaml' }], unevaluatedProperties: false }),
    ['looser'],
    post(true, { a: 1 }),
  ],
  [
    'with two refused values at one place',
    json({ properties: { a: { type: 'string', required: true } } }),
    ['looser'],
    post(true, { a: 'x' }),
    post(false, { a: 1 }),
  ],
  [
    'with names and values that look like variables',
    json({
      required: ['${TEXT}'],
      additionalProperties: false,
      properties: { '${TEXT}': { enum: ['${TEXT}', '$${TEXT}'] } },
    }),
    [],
    post(true, { '${TEXT}': '${TEXT}' }),
    post(true, { '${TEXT}': '$${TEXT}' }),
    post(false, { '${TEXT}': 'from the environment' }),
    post(false, {}),
  ],
];

const BODIES: readonly Case[] = [
  ['of any media type with a schema', body({ '*/*': INTEGER }), ['looser'], post(true, 'x')],
  ['of any media type that is required', body({ '*/*': {} }), ['looser'], [true, 'POST', '/a']],
  ['of any media type that is optional', body({ '*/*': {} }, false), [], [true, 'POST', '/a']],
  ['of no media type', body({}), ['looser'], [true, 'POST', '/a', 'x', 'text/plain']],
  [
    'with a parameter of its media type',
    body({ 'application/json; version=1': INTEGER }),
    ['stricter'],
    [false, 'POST', '/a', '1', 'application/json; version=1'],
  ],
  [
    'with its charset',
    body({ 'application/json; charset=UTF-8': INTEGER }),
    [],
    [true, 'POST', '/a', '1', 'application/json; charset=utf-8'],
  ],
  [
    'with two schemas',
    body({ 'application/json': INTEGER, 'application/a+json': { schema: { type: 'string' } } }),
    ['stricter'],
    post(true, 1),
    [false, 'POST', '/a', '1', 'application/a+json'],
  ],
  [
    'with a reference to a reference',
    {
      components: {
        requestBodies: {
          A: { $ref: '#/components/requestBodies/B' },
          B: { required: true, content: { 'application/json': INTEGER } },
        },
      },
      ...operation({ requestBody: { $ref: '#/components/requestBodies/A' } }),
    },
    [],
    post(true, 1),
    post(false, 'x'),
  ],
  [
    'of GET',
    operation({ requestBody: { required: true, content: { 'application/json': INTEGER } } }, 'get'),
    ['looser'],
    [true, 'GET', '/a', '"x"'],
  ],
  [
    'of a form with lists',
    {
      ...schemas({ List: { type: 'array', maxItems: 2 } }),
      ...body({
        'multipart/form-data': {
          schema: {
            additionalProperties: false,
            properties: { a: { $ref: '#/components/schemas/List' }, b: { type: ['array', 'null'], maxItems: 2 } },
          },
        },
      }),
    },
    ['looser'],
    form(true, 'a', 'a'),
    form(true, 'b', 'b'),
    form(false, 'a', 'a', 'a'),
  ],
  [
    'of a form with a list of any length',
    body({ 'multipart/form-data': { schema: { additionalProperties: false, properties: { a: { type: 'array' } } } } }),
    ['looser', 'stricter'],
    form(true, 'a', 'a'),
  ],
  [
    'of a form with a read-only part',
    body({
      'multipart/form-data': {
        schema: { additionalProperties: false, required: ['a'], properties: { a: { readOnly: true }, b: {} } },
      },
    }),
    ['looser'],
    form(true, 'b'),
  ],
  [
    'of a form with the parameters of a media type',
    body({
      'multipart/form-data': {
        schema: { additionalProperties: false, properties: { a: {} } },
        encoding: { a: { contentType: 'text/plain; charset=utf-8' } },
      },
    }),
    ['looser'],
    form(true, 'a'),
  ],
];

const PATHS: readonly Case[] = [
  [
    'with a reference to a reference',
    {
      components: { pathItems: { A: { $ref: '#/components/pathItems/B' }, B: { get: {} } } },
      paths: { '/a': { $ref: '#/components/pathItems/A' } },
    },
    [],
    get(true, ''),
  ],
  [
    'with operations beside a reference',
    {
      components: { pathItems: { A: { get: {} } } },
      paths: {
        '/a': { $ref: '#/components/pathItems/A', post: {}, parameters: [{ name: 'a', in: 'query', ...INTEGER }] },
      },
    },
    [],
    get(true, '?a=1'),
    get(false, '?a=x'),
    [true, 'POST', '/a'],
  ],
  [
    'with operations that cannot be read',
    { paths: { '/a': { get: null, POST: {}, put: {} } } },
    ['stricter'],
    get(false, ''),
    [false, 'POST', '/a'],
  ],
  [
    'with one header in two cases',
    {
      paths: {
        '/a': {
          parameters: [{ name: 'X-A', in: 'header', required: true, ...INTEGER }],
          get: { parameters: [{ name: 'x-a', in: 'header' }] },
        },
      },
    },
    [],
    get(true, ''),
  ],
];

const VERSION_2: readonly Case[] = [
  [
    'with the body of a path',
    version2({ '/a': { post: {}, parameters: [BODY] } }),
    [],
    post(true, 1),
    post(false, 'x'),
  ],
  [
    'with the body of a path and media types',
    version2({ '/a': { parameters: [BODY], post: { consumes: ['application/a+json'] } } }),
    [],
    [true, 'POST', '/a', '1', 'application/a+json'],
    post(false, 1),
  ],
  [
    'with a body that replaces that of the path',
    version2({ '/a': { parameters: [BODY], post: { parameters: [{ ...BODY, schema: { type: 'string' } }] } } }),
    [],
    post(false, 1),
    post(true, 'x'),
  ],
  [
    'with a reference to a body',
    version2({ '/a': { post: { parameters: [{ $ref: '#/parameters/Body' }] } } }, { parameters: { Body: BODY } }),
    [],
    post(true, 1),
    post(false, 'x'),
  ],
  [
    'with a list in another style',
    version2({ '/a': { get: { parameters: [{ in: 'query', name: 'a', ...LIST, collectionFormat: 'tsv' }] } } }),
    ['looser'],
    get(true, '?a=1%092'),
  ],
  ['with an extension of a path', version2({ '/a': { 'x-a': 'text', get: {} } }), [], get(true, '')],
  [
    'with its version as a number',
    { ...version2({ '/a': { post: { parameters: [BODY] } } }), swagger: 2 },
    [],
    post(false, 'x'),
  ],
];

describe.each([
  ['a parameter', PARAMETERS],
  ['a schema', SCHEMAS],
  ['a body', BODIES],
  ['a path', PATHS],
  ['a document of version 2.0', VERSION_2],
])('%s', (_subject, cases) => {
  for (const [name, document, effects, ...samples] of cases)
    it(`${name} has the requests of the document, or is reported`, async () => {
      expect(await send(document, samples)).toEqual({ results: samples, effects });
    });
});
