import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from '../../src/engine/manifest/document.ts';
import { runCli } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { YamlLanguageServer } from '../support/yaml-language-server.ts';
import { loadText } from './support.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const SCHEMA = join(root, 'schema/gateway.schema.json');
const readRoot = (path: string) => readFileSync(join(root, path), 'utf8');

/** A manifest with mistakes to insert. */
const MANIFEST = `# yaml-language-server: $schema=${SCHEMA}
version: 1
listen: \${LISTEN:-127.0.0.1:8080}
upstreams:
  contacts:
    url: http://127.0.0.1:7002
    balance: round-robin
    timeouts: { response: 30s }
auth:
  tokens:
    jwt: { jwks: ./keys.json, algorithms: [ES256], issuer: https://identity.example, audience: api }
  role: { claim: /role, allow: [admin], message: admins only }
routes:
  - id: contacts
    method: [GET, PUT]
    path: /contacts/{id}
    upstream: contacts
    access: public
    body: { maxBytes: 64KB }
    rateLimits: [per-client]
rateLimits:
  per-client: { key: client, allow: 100 per 1m }
  account: { key: [{ body: /email, fold: case }, { header: X-A }], missing: skip, allow: 5 per 15m, mode: report, reportUntil: 2027-01-31 }
stores:
  counters: { redis: 'redis://127.0.0.1:6379', secret: '\${SECRET}', timeout: 20ms, onFailure: refuse }
  secured: { redis: { url: 'rediss://127.0.0.1:6379', username: gateway, password: '\${SECRET}', ca: ./ca.pem }, secret: '\${SECRET}' }
server: { workers: '\${WORKERS:-auto}' }
`;

interface SnippetHolder {
  readonly defaultSnippets?: readonly { readonly label: string }[];
}

describe('yaml-language-server', () => {
  let server: YamlLanguageServer;
  beforeAll(async () => {
    server = await YamlLanguageServer.start();
  });
  afterAll(() => server.close());

  const examples = existsSync(join(root, 'examples')) ? globSync('examples/**/*.yaml', { cwd: root }) : [];

  it.each(['gateway.yaml', 'test/gateway.test.yaml', ...examples])('has no diagnostics for %s', async (path) => {
    expect(await server.diagnose(join(root, path), readRoot(path))).toEqual([]);
  });

  it('has no diagnostics for the files of init', async () => {
    const folder = temporaryFolder('editor', {});
    await runCli(['init'], folder);
    for (const name of ['gateway.yaml', 'gateway.test.yaml']) {
      const path = join(folder, name);
      expect(await server.diagnose(path, readFileSync(path, 'utf8')), name).toEqual([]);
    }
  });

  it.each([
    ['listen: ${LISTEN:-127.0.0.1:8080}', 'listen: localhost', 3, 9, 'This is not an address; write for example'],
    ['listen: ${LISTEN:-127.0.0.1:8080}', 'listen: ${LISTEN', 3, 9, 'This is not an address; write for example'],
    ['listen: ${LISTEN:-127.0.0.1:8080}', 'lisen: 127.0.0.1:8080', 3, 1, 'Property lisen is not allowed'],
    ['http://127.0.0.1:7002', 'http://127.0.0.1:7002/v1', 6, 10, 'This is not an upstream URL; write for example'],
    ['round-robin', 'random', 7, 14, 'Valid values: "round-robin", "least-pending"'],
    ['30s', '30 s', 8, 27, 'This is not a duration above zero; write for example 250ms'],
    ['30s', '30', 8, 27, 'Incorrect type'],
    ['[ES256]', '[ES257]', 11, 44, 'Valid values: "ES256"'],
    ['claim: /role', 'claim: role', 12, 18, 'This is not a JSON Pointer; write for example'],
    ['id: contacts', 'id: Contacts', 14, 9, 'This is not a name; write for example contacts or login-mfa'],
    ['[GET, PUT]', 'get', 15, 13, 'Valid values: "GET"'],
    ['[GET, PUT]', '[GET, put]', 15, 19, 'Valid values: "GET"'],
    ['path: /contacts', 'path: contacts', 16, 11, 'This is not a path; write for example /api/contacts'],
    ['    access: public\n', '', 14, 5, 'Missing property "access"'],
    ['5 per 15m', '5 in 15m', 23, 90, 'This is not a rate of at most 999999 requests; write for example 5 per 15m'],
    ['key: client', 'key: clients', 22, 22, 'Valid values: "client", "subject", "route"'],
    ['2027-01-31', '31.1.2027', 23, 128, 'This is not a date; write for example 2027-01-31'],
    ['onFailure: refuse', 'onFailure: open', 25, 95, 'Valid values: "local", "refuse"'],
    [
      "'${WORKERS:-auto}'",
      'Auto',
      27,
      20,
      'This is not auto or a whole number from 1 to 64; write for example 2 or auto',
    ],
    ["'${WORKERS:-auto}'", '65', 27, 20, 'Value is above the maximum of 64'],
    ["'${WORKERS:-auto}'", '1.5', 27, 20, 'Incorrect type'],
    ['64KB', '64kb', 19, 23, 'This is not a size; write for example 512B'],
  ])('for %j instead of %j shows a diagnostic at the mistake', async (right, wrong, line, column, message) => {
    const diagnostics = await server.diagnose('/mistake.yaml', MANIFEST.replace(right, wrong));
    expect(diagnostics).toEqual([{ line, column, message: expect.stringContaining(message) }]);
  });

  it('has no diagnostics for the manifest without mistakes', async () => {
    expect(await server.diagnose('/correct.yaml', MANIFEST)).toEqual([]);
  });

  const HEAD = `# yaml-language-server: $schema=${SCHEMA}\nversion: 1\n`;
  const UPSTREAMS = 'upstreams: { contacts: { url: http://127.0.0.1:7002 } }\n';
  const ROUTES = 'routes:\n  - { id: a, method: GET, path: /a, upstream: contacts, access: public }\n';
  const AT_END = HEAD + UPSTREAMS + ROUTES;
  /** The text before each snippet, by its label. */
  const PLACES: Readonly<Record<string, string>> = {
    'unix socket': `${AT_END}listen:\n  `,
    'JWT and roles': `${AT_END}auth:\n  `,
    'userinfo and roles': `${AT_END}auth:\n  `,
    'web application': `${AT_END}cors:\n  `,
    TLS: `${AT_END}server:\n  `,
    'all processors': `${AT_END}server:\n  `,
    'trusted proxies': `${AT_END}server:\n  `,
    'self-test': `${AT_END}reload:\n  `,
    'sampled log': `${AT_END}log:\n  `,
    'log for replays': `${AT_END}log:\n  `,
    'sampled traces': `${AT_END}tracing:\n  `,
    'strict rules': `${AT_END}lint:\n  `,
    'admin API with a token': `${AT_END}admin:\n  `,
    store: `${AT_END}stores:\n  `,
    'rate limit': `${AT_END}rateLimits:\n  `,
    'limit of failures': `${AT_END}rateLimits:\n  `,
    'limit that only reports': `${AT_END}rateLimits:\n  `,
    invariant: `${AT_END}invariants:\n  `,
    schema: `${AT_END}schemas:\n  `,
    defaults: `${AT_END}defaults:\n  `,
    'object schema': `${AT_END}schemas:\n  Credentials:\n    `,
    upstream: `${HEAD}${ROUTES}upstreams:\n  `,
    'one endpoint': `${HEAD}${ROUTES}upstreams:\n  contacts:\n    `,
    'several endpoints with health checks': `${HEAD}${ROUTES}upstreams:\n  contacts:\n    `,
    'protected route': `${HEAD}${UPSTREAMS}routes:\n  - `,
    'public route': `${HEAD}${UPSTREAMS}routes:\n  - `,
  };

  it.each(Object.entries(PLACES))('offers the valid snippet "%s"', async (label, text) => {
    const completions = await server.completionsAtEnd('/snippet.yaml', text);
    const snippets = completions.filter((completion) => completion.label === label);
    expect(snippets).toHaveLength(1);
    // As an editor does: takes over the placeholders, and indents the lines as the first one.
    const value = (snippets[0]?.insertText ?? '').replaceAll(/\$\{\d:([^}]*)\}/g, '$1').replaceAll(/\\([$}])/g, '$1');
    const indentation = /^ */.exec(text.slice(text.lastIndexOf('\n') + 1))?.[0] ?? '';
    const inserted = `${text}${value.replaceAll('\n', `\n${indentation}`)}\n`;
    expect(await server.diagnose('/snippet.yaml', inserted), inserted).toEqual([]);
    const errors = loadText(inserted, { ADMIN_TOKEN: '7mWq2vXc9RtLkP4zGhN8' }).problems.filter(
      ({ rule }) => rule === 'schema',
    );
    expect(errors).toEqual([]);
  });

  it('offers the words and the default of the number of workers', async () => {
    const completions = await server.completionsAtEnd('/workers.yaml', `${AT_END}server:\n  workers: `);
    expect(completions.map(({ label }) => label)).toEqual(expect.arrayContaining(['1', 'auto']));
  });

  it('offers a snippet for every section with several keys, a route, an upstream and a schema', () => {
    const { properties, $defs } = JSON.parse(readFileSync(SCHEMA, 'utf8'));
    const labels = [...Object.values<SnippetHolder>(properties), ...Object.values<SnippetHolder>($defs)].flatMap(
      ({ defaultSnippets = [] }) => defaultSnippets.map(({ label }) => label),
    );
    expect(labels.toSorted()).toEqual(Object.keys(PLACES).toSorted());
    const places = Object.values(PLACES).join('');
    const keysOf = Object.keys(properties).filter((key) => !['version', 'include'].includes(key));
    expect(keysOf.filter((key) => !places.includes(`\n${key}:\n`))).toEqual([]);
  });
});

describe('the schema for editors', () => {
  const schema = JSON.parse(readFileSync(SCHEMA, 'utf8'));
  const ajv = new Ajv2020({ strict: false });
  ajv.addSchema(schema, 'manifest');

  it('accepts a variable in place of every string of a manifest', () => {
    const strings = new Map<string, string>();
    for (const text of [readRoot('gateway.yaml'), MANIFEST])
      for (const [path, value] of stringsOf(parse({ path: 'gateway.yaml', text }).document.value)) {
        const key = path.map((step) => (typeof step === 'number' ? '*' : step)).join('/');
        if (key.startsWith('schemas/') || strings.has(`${text.length}/${key}`)) continue;
        strings.set(`${text.length}/${key}`, value);
        const changed = structuredClone(parse({ path: 'gateway.yaml', text }).document.value);
        setAt(changed, path, '${ANY_NAME}');
        expect({ key, isValid: ajv.validate('manifest', changed) }).toEqual({ key, isValid: true });
      }
    expect(strings.size).toBeGreaterThan(40);
  });

  it('is looser than the check of the gateway, which refuses a literal "${"', () => {
    const { problems } = loadText(MANIFEST.replace('30s', () => '"$${TIMEOUT}"'));
    const message = expect.stringContaining('"${TIMEOUT}" is not a duration above zero');
    expect(problems).toContainEqual(expect.objectContaining({ rule: 'schema', message }));
  });
});

type Path = readonly (string | number)[];

function* stringsOf(value: unknown, path: Path = []): Generator<[Path, string]> {
  if (typeof value === 'string') yield [path, value];
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* stringsOf(item, [...path, index]);
  else if (value !== null && typeof value === 'object')
    for (const [key, member] of Object.entries(value)) yield* stringsOf(member, [...path, key]);
}

function setAt(root: unknown, path: Path, value: unknown): void {
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((node, step) => (node as Record<string | number, unknown>)[step], root);
  (parent as Record<string | number, unknown>)[path.at(-1) ?? ''] = value;
}
