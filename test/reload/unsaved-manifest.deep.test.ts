import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { createFileEnvironment } from '../../src/engine/manifest/source.ts';
import type { PreparedReload } from '../../src/process/reload/manifest-thread.ts';
import { reportProblems } from '../../src/process/reload/reload-report.ts';
import { Reloader } from '../../src/process/reload/reloader.ts';
import { createPair } from '../support/certificate.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const INCLUDED = `routes:
  - { id: included, method: GET, path: /included, upstream: up, access: public }
`;
const TEXT = `version: 1
listen: 127.0.0.1:0
include: [routes.yaml]
server: { stopping: { delay: '\${DELAY:-1s}' }, tls: { certificate: cert.pem, key: key.pem } }
upstreams: { up: { url: 'http://\${HOST}:9' } }
routes:
  - { id: sent, method: POST, path: /sent, upstream: up, access: public, requestHeaders: { set: { X-Host: '\${HOST}' } }, body: { schema: { $ref: ./schema.json } } }
`;
/** In YAML, a mapping with a line of the key. */
const KEY_NOTE = 'HIDDEN_NOTE: of the private key\nHIDDEN_TEXT\n';
const ENV = { SECRET: 'HIDDEN_VALUE', HOST: '127.0.0.1' };
const SENT = TEXT.replace(", requestHeaders: { set: { X-Host: '${HOST}' } }", '');

let path: string;
let reloader: Reloader;

beforeEach(() => {
  const { certificate, key } = createPair();
  const folder = temporaryFolder('unsaved', {
    'gateway.yaml': TEXT,
    'routes.yaml': INCLUDED,
    'schema.json': '{ "type": "object" }',
    'cert.pem': certificate,
    'key.pem': KEY_NOTE + key,
    'other.yaml': 'HIDDEN_FILE: [\n',
  });
  path = join(folder, 'gateway.yaml');
  const initial = load({ path, text: TEXT }, createFileEnvironment(path, ENV));
  if (initial.plan === undefined) throw new Error(JSON.stringify(initial.problems));
  const gateway = { plan: initial.plan, prepare: async () => {}, activate: async () => {} };
  reloader = new Reloader({ path, env: ENV, gateway, initial, onReload: () => {} });
});

afterEach(() => reloader.close());

function reportOf(prepared: PreparedReload): string {
  if ('problems' in prepared) return JSON.stringify(reportProblems(prepared));
  return 'reason' in prepared ? prepared.reason : `accepted ${prepared.planned.plan.routes.map(({ id }) => id)}`;
}

const NOT_ALLOWED = 'may use a variable only at the key where the active manifest has the same text';
const NOT_LISTED = 'a candidate from the admin API may use only the files of the active manifest';

describe('a manifest that is not saved', () => {
  it('may use the files of the active manifest', async () => {
    const changed = SENT.replace('id: sent', 'id: other').replace('routes.yaml', '"*.yaml"');
    expect(reportOf(await reloader.prepareUnsaved(changed))).toBe('accepted other,included');
  });

  it('costs at most a thousand problems, and a limited heap', async () => {
    const route = '  - { id: sent, method: GET, path: /sent, upstream: up, access: public }\n';
    const variable = '  - { id: sent, method: GET, path: "/sent${UNSET}", upstream: up, access: public }\n';
    for (const text of [SENT + route.repeat(2_000), SENT + variable.repeat(2_000)]) {
      const prepared = await reloader.prepareUnsaved(Buffer.from(text));
      expect('problems' in prepared && prepared.problems.length).toBe(1_000);
    }
    const prepared = await reloader.prepareUnsaved(Buffer.alloc(1024 ** 2, '['));
    expect(reportOf(prepared)).toMatch(/memory|did not respond/);
    expect(reportOf(await reloader.prepareUnsaved(SENT))).toBe('accepted sent,included');
  });

  it.each([
    ['another file as an include', 'routes.yaml', 'other.yaml', NOT_LISTED],
    ['another file by a pattern', 'routes.yaml', 'o*.yaml', 'no file, or more than 10000, matches'],
    ['a file by an absolute path', 'routes.yaml', '/etc/passwd', "is not in the manifest's folder"],
    ['a file in a parent folder', 'routes.yaml', '../other.yaml', "is not in the manifest's folder"],
    ['a private key as an include', 'routes.yaml', 'key.pem', NOT_LISTED],
    ['a schema as an include', 'routes.yaml', 'schema.json', NOT_LISTED],
    ['another file as a schema', './schema.json', './other.yaml', NOT_LISTED],
    ['a private key as a schema', './schema.json', './key.pem', 'does not use this file in this way'],
    ['a private key as a test file', 'routes:', 'reload: { selfTest: key.pem }\nroutes:', 'does not use this file'],
    ['another file as a certificate', 'cert.pem', 'other.yaml', NOT_LISTED],
    ['a variable as an id', 'id: sent', 'id: "${SECRET}"', NOT_ALLOWED],
    ['a variable as an upstream', 'upstream: up, access', 'upstream: "${SECRET}", access', NOT_ALLOWED],
    ['a variable at another key', 'version: 1', 'version: 1\nadmin: { listen: "${HOST}:1" }', NOT_ALLOWED],
    ['another variable at a key', '${HOST}', '${SECRET}', NOT_ALLOWED],
    ['another text at a key', '${HOST}', '${HOST:-x}', NOT_ALLOWED],
    ['a variable that is not set', '${HOST}', '${UNSET}', NOT_ALLOWED],
    ['a variable with a default', 'version: 1', "version: 1\ndescription: '${SECRET:-}'", NOT_ALLOWED],
    ['a variable in a pattern', '$ref: ./schema.json', "type: string, pattern: '^[${SECRET}]$$'", NOT_ALLOWED],
    [
      'a variable in a response',
      'upstream: up, access',
      'respond: { status: 200, body: "${SECRET}" }, access',
      NOT_ALLOWED,
    ],
    [
      'a variable in a header',
      'public, body',
      "public, requestHeaders: { set: { X-Host: '${HOST}' } }, body",
      NOT_ALLOWED,
    ],
  ])('cannot read %s', async (_, part, replacement, message) => {
    const report = reportOf(await reloader.prepareUnsaved(SENT.replace(part, replacement)));
    expect(report).toContain(message);
    expect(report).not.toContain('HIDDEN');
    expect(report).not.toContain('PRIVATE KEY');
  });

  it('is prepared beside a reload', async () => {
    const [prepared, reload] = await Promise.all([reloader.prepareUnsaved(SENT), reloader.reload('request')]);
    expect([reportOf(prepared), reload.kind]).toEqual(['accepted sent,included', 'unchanged']);
  });

  it('is given up when the reloader closes', async () => {
    const prepared = reloader.prepareUnsaved(TEXT);
    await reloader.close();
    expect('reason' in (await prepared)).toBe(true);
    expect(reportOf(await reloader.prepareUnsaved(TEXT))).toBe('the gateway is stopping');
  });
});
