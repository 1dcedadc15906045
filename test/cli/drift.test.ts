import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { anyManifest } from '../support/any-manifest.ts';
import { runCli } from '../support/cli.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const MANIFEST = `version: 1
upstreams: { notes: { url: '\${NOTES:-http://127.0.0.1:7001}' } }
auth:
  tokens: { jwt: { jwks: 'http://127.0.0.1:9/jwks.json', algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin, user], message: no }
rateLimits: { few: { key: client, allow: 5 per 1m } }
invariants: [{ id: hidden, when: { path: /internal/** }, require: { served: false } }]
schemas:
  Note: { type: object, required: [text], properties: { text: { type: string, maxLength: 9 } } }
routes:
  - { id: list, method: GET, path: /notes, upstream: notes, access: public, rateLimits: [few], query: { properties: { page: { type: integer, minimum: 1 } } } }
  - { id: note, method: POST, path: /notes, upstream: notes, access: protected, roles: [admin], timeout: 5s, body: { schema: { $ref: '#/schemas/Note' } } }
  - { id: files, method: any, path: /files/**, upstream: notes, access: protected, encodedSlash: keep }
`;

/** The routes differ from the documents below in every respect that both can express. */
const OTHER_ROUTES = `version: 1
upstreams: { notes: { url: 'http://127.0.0.1:7001' } }
auth:
  tokens: { jwt: { jwks: 'http://127.0.0.1:9/jwks.json', algorithms: [ES256], issuer: i, audience: a } }
  role: { claim: /role, allow: [admin, user], message: no }
routes:
  - id: note-create
    method: POST
    path: /api/notes
    upstream: notes
    access: public
    body: { schema: { type: object, required: [text], properties: { text: { type: string, maxLength: 20 } } } }
  - id: note-list
    method: GET
    path: /api/notes
    upstream: notes
    access: protected
    query: { properties: { page: { type: integer, minimum: 5 } } }
  - { id: extra, method: GET, path: /api/extra, upstream: notes, access: protected }
`;
const LIST = `    get:
      operationId: listNotes
      security: []
      parameters:
        - $ref: '#/PARAMETERS/Page'
  /gone:
    delete:
      operationId: removeAll
`;
const NOTE = 'Note: { type: object, required: [text], properties: { text: { type: string, maxLength: 10 } } }';
const VERSION_2 = `swagger: '2.0'
info: { title: Notes, version: '1' }
parameters:
  Page: { name: page, in: query, type: integer, minimum: 1 }
definitions:
  ${NOTE}
paths:
  /notes:
    post:
      operationId: createNote # post
      consumes: [application/json]
      parameters:
        - { name: note, in: body, required: true, schema: { $ref: '#/definitions/Note' } }
${LIST.replace('PARAMETERS', 'parameters')}`;
const VERSION_3 = `openapi: 3.0.3
info: { title: Notes, version: '1' }
components:
  parameters:
    Page: { name: page, in: query, schema: { type: integer, minimum: 1 } }
  schemas:
    ${NOTE}
paths:
  /notes:
    post: { operationId: createNote, requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Note' } } } } } # post
${LIST.replace('PARAMETERS', 'components/parameters')}`;

type Place = Record<'line' | 'column', number> & { readonly file: string };
type PrintedDifference = Place & { readonly rule: string; readonly counterpart: Place; readonly witness: unknown };

async function documentOf(manifest: string) {
  const { out } = await runCli(['openapi'], temporaryFolder('drift-document', { 'gateway.yaml': manifest }));
  return JSON.parse(out) as { paths: Record<string, Record<string, Record<string, unknown>>> };
}

async function drift(document: object, manifest = MANIFEST, ...args: string[]) {
  const files = { 'openapi.yaml': stringify(document), 'gateway.yaml': manifest };
  const { code, out, err } = await runCli(
    ['drift', 'openapi.yaml', ...args, '-f', 'json'],
    temporaryFolder('drift', files),
  );
  if (code === 2) return { code, err, found: [] };
  const { differences } = JSON.parse(out) as { differences: { rule: string; file: string; line: number }[] };
  return { code, err, found: differences.map(({ rule, file }) => `${rule} ${file}`) };
}

describe('drift', () => {
  it('finds nothing between a manifest and its own document', async () => {
    expect(await drift(await documentOf(MANIFEST))).toEqual({ code: 0, err: '', found: [] });
  });

  describe('with several issuers', () => {
    const jwt = '{ jwks: http://127.0.0.1:9/jwks.json, algorithms: [ES256], issuer: p, audience: a }';
    const partners = `{ name: partners, jwt: ${jwt}, role: { claim: /scope, allow: [read], message: no } }`;
    const manifest = MANIFEST.replace(
      /tokens: (.*)/,
      (_text, first) => `tokens: [{ name: staff, ${first.slice(1)}, ${partners}]`,
    )
      .replace('roles: [admin]', 'issuers: [partners], roles: [read], forward: { X-User: /sub }')
      .replace('encodedSlash: keep', 'issuers: [staff, partners]');

    it('finds nothing between a manifest and its own document, which has a scheme for each of them', async () => {
      const document = (await documentOf(manifest)) as Record<string, unknown> & Awaited<ReturnType<typeof documentOf>>;
      const scheme = (roles: readonly string[]) => ({ type: 'http', scheme: 'bearer', 'x-roles': roles });
      expect(document['security']).toEqual([{ staff: [] }]);
      expect(document['components']).toMatchObject({
        securitySchemes: { staff: scheme(['admin', 'user']), partners: scheme(['read']) },
      });
      const described = [
        document.paths['/notes']?.['get'],
        document.paths['/notes']?.['post'],
        document.paths['/files']?.['get'],
      ];
      expect(described.map((one) => [one?.['security'], one?.['description']])).toEqual([
        [[], 'Public.'],
        [[{ partners: [] }], 'Roles of partners: read.'],
        [[{ staff: [] }, { partners: [] }], 'Roles of staff: admin, user. Roles of partners: read.'],
      ]);
      expect(await drift(document, manifest)).toEqual({ code: 0, err: '', found: [] });
    });

    it('reports a protected route that the document does not secure', async () => {
      const document = await documentOf(manifest);
      Object.assign(document.paths['/notes']?.['post'] ?? {}, { security: [] });
      expect((await drift(document, manifest)).found).toEqual(['route-protected gateway.yaml']);
    });
  });

  it.each([
    ['a body that GET does not have', ["method: [GET, POST], path: /a, body: { schema: { $ref: '#/schemas/Note' } }"]],
    [
      'a form that GET does not have',
      ['method: [GET, POST], path: /a, body: { multipart: { parts: { a: { maxBytes: 1KB } } } }'],
    ],
    ['columns', ['method: POST, path: /a, body: { csv: { header: [a] } }']],
    [
      'a rate limit by the body',
      [
        "method: [GET, POST], path: /a, body: { schema: { $ref: '#/schemas/Note' }, maxBytes: 1KB }, rateLimits: [text]",
      ],
    ],
    ['HEAD of a rest, and GET of a wider one', ['method: [HEAD, POST], path: /a/**', 'method: GET, path: /**']],
    ['HEAD of a rest, and GET of a shorter one', ["method: HEAD, path: '/{a}/{b}/**'", 'method: GET, path: /**']],
    [
      'a body at paths that fold to others',
      [
        "method: PUT, path: '/{kind}/**', body: { schema: { $ref: '#/schemas/Note' } }",
        "method: POST, path: '/a/{id}'",
      ],
    ],
  ])('finds nothing between a manifest with %s and its own document', async (_case, routes) => {
    const head = OTHER_ROUTES.slice(0, OTHER_ROUTES.indexOf('routes:'));
    const note = 'schemas: { Note: { type: object, properties: { text: { type: string } } } }';
    const limit = 'rateLimits: { text: { key: { body: /text }, allow: 5 per 1m, missing: skip } }';
    const list = routes.map((one, at) => `  - { id: r${at}, upstream: notes, access: public, ${one} }\n`);
    const manifest = `${head}${note}\n${limit}\nroutes:\n${list.join('')}`;
    const { code, found } = await drift(await documentOf(manifest), manifest, '--fail-on', 'info');
    expect([code, found]).toEqual([0, []]);
  });

  it('finds nothing between any manifest and its own document', async () => {
    const methods = fc.constantFrom<unknown>('HEAD', ['HEAD', 'POST'], ['GET', 'HEAD'], ['GET', 'OPTIONS'], 'POST');
    await fc.assert(
      fc.asyncProperty(
        anyManifest,
        fc.array(methods, { minLength: 7, maxLength: 7 }),
        fc.boolean(),
        async (any, drawn, isOwn) => {
          const routes = any.routes.map(({ body, ...route }, at) => {
            const method = drawn[at];
            return { ...route, method, ...(body !== undefined && /POST|OPTIONS/.test(String(method)) && { body }) };
          });
          const manifest = JSON.stringify(isOwn ? any : { ...any, routes });
          const folder = temporaryFolder('drift-any', { 'gateway.yaml': manifest });
          if ((await runCli(['openapi', '-o', 'openapi.json'], folder)).code !== 0) return;
          const { out, err } = await runCli(['drift', 'openapi.json', '-f', 'json'], folder);
          const { differences } = JSON.parse(out === '' ? err : out) as { differences: PrintedDifference[] };
          expect([manifest, differences]).toEqual([manifest, []]);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it.each([
    ['a public route that the document secures', 'access: protected, roles: [admin]', 'access: public', 'route-public'],
    ['a protected route that the document does not secure', 'access: public', 'access: protected', 'route-protected'],
    ['a looser schema', 'maxLength: 9', 'maxLength: 10', 'body-loosened'],
    ['a stricter schema', 'maxLength: 9', 'maxLength: 8', 'body-tightened'],
    ['a looser parameter', 'minimum: 1', 'minimum: 0', 'parameters-loosened'],
    ['another role', 'roles: [admin]', 'roles: [user]', undefined],
    ['another time limit', 'timeout: 5s', 'timeout: 6s', undefined],
  ])('reports %s, if OpenAPI says something about it', async (_case, old, next, rule) => {
    const { code, found } = await drift(await documentOf(MANIFEST), MANIFEST.replace(old, next), '--fail-on', 'info');
    expect([code, [...new Set(found)]]).toEqual(rule === undefined ? [0, []] : [1, [`${rule} gateway.yaml`]]);
  });

  it('reports a route without an operation', async () => {
    const more = 'routes:\n  - { id: more, method: GET, path: /more, upstream: notes, access: public }';
    const { found } = await drift(await documentOf(MANIFEST), MANIFEST.replace('routes:', more));
    expect(found).toEqual(['route-added-public gateway.yaml']);
  });

  it('reports an operation without a route, at its place in the document', async () => {
    const document = await documentOf(MANIFEST);
    document.paths['/other'] = { get: { operationId: 'other', security: [] } };
    const files = { 'openapi.yaml': stringify(document), 'gateway.yaml': MANIFEST };
    const { code, out } = await runCli(['drift', 'openapi.yaml'], temporaryFolder('drift', files));
    expect(code).toBe(1);
    const line =
      stringify(document)
        .split('\n')
        .findIndex((text) => text.startsWith('  /other:')) + 3;
    expect(out).toContain(`openapi.yaml:${line}:`);
    expect(out).toContain('no route receives the requests of the operation "other"');
  });

  it.each([
    ['2.0', VERSION_2],
    ['3.0', VERSION_3],
  ])('reports both places of each difference, for version %s', async (_version, document) => {
    const files = { 'openapi.yaml': document, 'gateway.yaml': OTHER_ROUTES };
    const folder = temporaryFolder('drift-places', files);
    const run = async (format: string) =>
      (await runCli(['drift', 'openapi.yaml', '--prefix', '/api', '-f', format], folder)).out;
    const { differences } = JSON.parse(await run('json')) as { differences: PrintedDifference[] };
    const lineOf = (place: Place) => files[place.file as keyof typeof files].split('\n')[place.line - 1]?.trim();
    expect(differences.every(({ witness }) => witness !== null)).toBe(true);
    const places = differences.map((one) => [one.rule, lineOf(one), lineOf(one.counterpart)]);
    expect(places.sort()).toEqual([
      ['body-loosened', expect.stringMatching(/^body:/), expect.stringContaining('# post')],
      ['parameters-loosened', expect.stringMatching(/^query:/), expect.stringContaining('/parameters/Page')],
      ['parameters-tightened', expect.stringMatching(/^query:/), expect.stringContaining('/parameters/Page')],
      ['route-added', expect.stringContaining('id: extra'), 'paths:'],
      ['route-protected', 'access: protected', expect.stringContaining('security: []')],
      ['route-public', 'access: public', expect.stringContaining('# post')],
      ['route-removed', 'operationId: removeAll', 'routes:'],
    ]);
    const [text, markdown] = [await run('text'), await run('markdown')];
    for (const { file, line, column, counterpart } of differences) {
      expect(text).toContain(`${file}:${line}:${column} `);
      expect(text).toContain(`  compared with ${counterpart.file}:${counterpart.line}:${counterpart.column}\n`);
      expect(markdown).toContain(`\`${file}:${line}\`, \`${counterpart.file}:${counterpart.line}\``);
    }
    expect(text).toContain('the route "note-create" is public, but the operation "create-note" is secured');
    expect(text).toContain('the route "extra" has no operation');
  });

  it('notes the parts that it cannot compare', async () => {
    const document = await documentOf(MANIFEST);
    Object.assign(document.paths['/notes']?.['get'] ?? {}, { parameters: [{ name: 'sid', in: 'cookie' }] });
    const { err } = await drift(document, MANIFEST.replace(/, query: .* \} \} \} \}/, ' }'));
    expect(err).toContain(
      '1 part of openapi.yaml cannot be compared; "signing-gateway import openapi.yaml" lists them',
    );
  });

  it('reads no variable in a document', async () => {
    const schema = { enum: ['${NOTES}'] };
    const parameters = [{ name: 'page', in: 'query', schema }];
    const paths = { '/notes': { get: { operationId: 'list', security: [], parameters } } };
    const { code, err } = await drift({ openapi: '3.1.0', info: {}, paths });
    expect({ code, err }).toEqual({ code: 1, err: '' });
  });

  it('compares operations whose routes respond themselves', async () => {
    const own = '  - { id: old, method: [GET, PUT], path: /old, access: public, respond: { status: 410 } }\n';
    const operation = {
      operationId: 'put',
      security: [],
      requestBody: { content: { 'application/json': { schema: {} } } },
    };
    const paths = { '/old': { put: operation }, '/new': { get: { operationId: 'get', security: [] } } };
    const { code, err, found } = await drift(
      { openapi: '3.1.0', info: {}, paths },
      MANIFEST.replace('routes:\n', `$&${own}`),
    );
    expect({ code, err: err.includes('cannot be compared with') }).toEqual({ code: 1, err: false });
    expect(found).toEqual(expect.arrayContaining(['media-types-widened gateway.yaml', 'route-removed openapi.yaml']));
    const alone = `version: 1\nroutes:\n${own}`;
    expect((await drift({ openapi: '3.1.0', info: {}, paths }, alone)).code).toBe(1);
  });

  it('takes a prefix', async () => {
    const prefixed = MANIFEST.replaceAll(/path: \/(?=notes|files)/g, 'path: /api/');
    const document = await documentOf(MANIFEST);
    expect((await drift(document, prefixed, '--prefix', '/api')).found).toEqual([]);
    expect((await drift(document, prefixed)).found.length).toBeGreaterThan(0);
  });

  it('exits with 2 for a broken manifest, another document or an unknown option', async () => {
    const document = await documentOf(MANIFEST);
    expect((await drift(document, 'version: 2\n')).err).toContain('gateway.yaml:1:10 error');
    expect((await drift({ a: 1 })).err).toContain('is not an OpenAPI document');
    expect((await drift(document, MANIFEST, '--fail-on', 'all')).err).toContain(
      'unknown --fail-on "all"; write one of: error',
    );
    expect((await drift({ openapi: '3.1.0', info: {}, paths: {} })).err).toContain('has no operation');
  });
});
