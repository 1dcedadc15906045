import fc from 'fast-check';
import { expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { importOpenApi } from '../../src/openapi/import/import-openapi.ts';
import { readOpenApi } from '../../src/openapi/import/openapi-document.ts';
import { writeRoutes } from '../../src/openapi/import/write-routes.ts';
import { createOfflineGateway } from '../../src/prove/offline/offline-gateway.ts';
import { createOfflineRequest } from '../../src/prove/offline/request-bytes.ts';
import { StubVerifier } from '../../src/prove/offline/stub-verifier.ts';
import { runs } from '../support/runs.ts';

/** A schema of one text with values that it accepts and refuses. */
interface Sample {
  readonly schema: object;
  readonly valid: readonly unknown[];
  readonly invalid: readonly unknown[];
}

const SAMPLES: readonly Sample[] = [
  { schema: { type: 'integer', minimum: 1, maximum: 9 }, valid: [1, 9], invalid: [0, 10, 'x', 1.5] },
  { schema: { type: 'integer', format: 'int32' }, valid: [0, -2147483648], invalid: [2147483648, 'x'] },
  { schema: { type: 'number', exclusiveMinimum: 0 }, valid: [0.5, 7], invalid: [0, -1, 'x'] },
  { schema: { type: 'boolean' }, valid: [true, false], invalid: ['yes', 1] },
  { schema: { type: 'string', enum: ['a', 'b'] }, valid: ['a', 'b'], invalid: ['c', 'A'] },
  { schema: { type: 'string', pattern: '^[a-z]+$', maxLength: 3 }, valid: ['a', 'abc'], invalid: ['abcd', '1'] },
  { schema: { type: 'string', format: 'uuid' }, valid: ['0f8fad5b-d9cb-469f-a165-70867728950e'], invalid: ['x'] },
  { schema: { $ref: '#/components/schemas/Short' }, valid: ['ab'], invalid: ['a', 'abc'] },
];
const COMPONENTS = { schemas: { Short: { type: 'string', minLength: 2, maxLength: 2 } } };

const sample = fc.constantFrom(...SAMPLES);
const field = fc.record({ sample, required: fc.boolean(), pick: fc.nat(), isList: fc.boolean() });
const operation = fc.record({
  path: fc.option(fc.tuple(sample, fc.nat()), { nil: undefined }),
  query: fc.array(field, { maxLength: 3 }),
  headers: fc.array(field, { maxLength: 2 }),
  body: fc.option(fc.array(field, { maxLength: 3 }), { nil: undefined }),
  /** The part that gets a value which its schema refuses. */
  broken: fc.option(fc.nat(), { nil: undefined }),
});

type Drawn = typeof operation extends fc.Arbitrary<infer Value> ? Value : never;

const pickFrom = (values: readonly unknown[], at: number) => values[at % values.length];

/** Writes a document with one operation, and a request for it. `isBroken` tells whether the document refuses the request. */
function write({ path, query, headers, body, broken }: Drawn) {
  const parts = [
    ...(path === undefined ? [] : ['path']),
    ...query.map((_, at) => `q${at}`),
    ...headers.map((_, at) => `X-${at}`),
  ];
  const all = [...parts, ...(body ?? []).map((_, at) => `b${at}`)];
  const brokenPart = broken === undefined || all.length === 0 ? undefined : all[broken % all.length];
  const textOf = (name: string, { valid, invalid }: Sample, at: number) =>
    pickFrom(name === brokenPart ? invalid : valid, at);
  const parameters: object[] = [];
  const pairs: string[] = [];
  const lines: string[] = [];
  if (path !== undefined) parameters.push({ name: 'id', in: 'path', required: true, schema: path[0].schema });
  for (const [at, one] of query.entries()) {
    const schema = one.isList ? { type: 'array', items: one.sample.schema } : one.sample.schema;
    parameters.push({ name: `q${at}`, in: 'query', required: one.required, schema });
    const values = [textOf(`q${at}`, one.sample, one.pick), ...(one.isList ? [pickFrom(one.sample.valid, 0)] : [])];
    for (const value of values) pairs.push(`q${at}=${encodeURIComponent(String(value))}`);
  }
  for (const [
    at,
    {
      sample: { schema },
      required,
      pick,
      sample: one,
    },
  ] of headers.entries()) {
    parameters.push({ name: `X-${at}`, in: 'header', required, schema });
    lines.push(`X-${at}`, String(textOf(`X-${at}`, one, pick)));
  }
  const members = (body ?? []).map((one, at) => [`b${at}`, one] as const);
  const schema = {
    type: 'object',
    required: members.filter(([, { required }]) => required).map(([name]) => name),
    properties: Object.fromEntries(members.map(([name, one]) => [name, one.sample.schema])),
  };
  const requestBody = { required: true, content: { 'application/json': { schema } } };
  const json = Object.fromEntries(members.map(([name, one]) => [name, textOf(name, one.sample, one.pick)]));
  const document = {
    openapi: '3.1.0',
    info: { title: 'a', version: '1' },
    components: COMPONENTS,
    paths: {
      [path === undefined ? '/a' : '/a/{id}']: {
        post: { security: [], parameters, ...(body === undefined ? {} : { requestBody }) },
      },
    },
  };
  const url = `/a${path === undefined ? '' : `/${encodeURIComponent(String(textOf('path', path[0], path[1])))}`}?${pairs.join('&')}`;
  const text = body === undefined ? undefined : JSON.stringify(json);
  return { document, url, lines, text, isBroken: brokenPart !== undefined };
}

it('imported routes forward requests that the document accepts, and refuse others', async () => {
  const counts = { forwarded: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(operation, async (drawn) => {
      const { document, url, lines, text, isBroken } = write(drawn);
      const imported = importOpenApi(readOpenApi({ path: 'openapi.json', text: JSON.stringify(document) }), {
        upstream: 'api',
        prefix: '',
        access: 'protected',
        roles: new Map(),
      });
      expect(imported.losses).toEqual([]);
      const main = 'version: 1\ninclude: routes.yaml\nupstreams: { api: { url: http://127.0.0.1:1 } }\n';
      const files = { env: {}, readFile: () => writeRoutes(imported), listFolder: () => ['routes.yaml'] };
      const loaded = load({ path: 'gateway.yaml', text: main }, files);
      if (loaded.plan === undefined) throw new Error(JSON.stringify(loaded.problems));
      const headers = [...lines, ...(text === undefined ? [] : ['Content-Type', 'application/json'])];
      const request = createOfflineRequest('POST', url, headers, text === undefined ? undefined : Buffer.from(text));
      const { upstreamRequest, record } = await createOfflineGateway(loaded.plan, new StubVerifier())(request);
      expect([url, lines, text, record.refusal?.code, upstreamRequest !== undefined]).toEqual([
        url,
        lines,
        text,
        isBroken ? expect.stringMatching(/_invalid$/) : undefined,
        !isBroken,
      ]);
      counts[isBroken ? 'refused' : 'forwarded'] += 1;
    }),
    { numRuns: runs(500) },
  );
  expect(Math.min(counts.forwarded, counts.refused)).toBeGreaterThan(0);
});
