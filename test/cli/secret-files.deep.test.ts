import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, runProcess, startCli } from '../support/cli.ts';
import { head, sendRequest } from '../support/raw.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const folder = temporaryFolder('secret-files');
const secrets = join(folder, 'secrets');
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  mkdirSync(secrets);
  const text = `version: 1
listen: 127.0.0.1:0
admin: { listen: 127.0.0.1:0, token: '\${file:${secrets}/admin}' }
server: { workers: 2, stopping: { delay: 0s } }
upstreams: { up: { url: '${upstream.url}' } }
routes:
  - id: one
    method: GET
    path: /one
    upstream: up
    access: public
    requestHeaders: { set: { X-Key: 'Key \${file:${secrets}/key}' } }
`;
  writeFileSync(join(folder, 'gateway.yaml'), text);
  writeFileSync(
    join(folder, 'gateway.test.yaml'),
    `version: 1
cases:
  - name: the upstream gets the secret
    request: { method: GET, url: /one }
    expect: { upstream: { headers: { X-Key: 'Key \${file:${secrets}/key}' } } }
`,
  );
});
afterAll(() => upstream.close());

describe('without the secret files', () => {
  it.each([
    ['lint', 'gateway.yaml'],
    ['test'],
    ['explain', 'GET', '/one'],
    ['diff', 'gateway.yaml', 'gateway.yaml'],
    ['routes'],
    ['openapi'],
  ])('%s %s works', async (...args) => {
    const { code, out, err } = await runCli(args, folder);
    expect([code, out + err]).toEqual([0, expect.not.stringContaining('cannot be read')]);
  });

  it('explain shows the reference', async () => {
    const { out } = await runCli(['explain', 'GET', '/one'], folder);
    expect(out).toContain(`Key \${file:${secrets}/key}`);
  });

  // Upstreams would get the reference as their key.
  it.each(['run', 'dev'])('%s refuses to start', async (verb) => {
    const { code, err } = await runProcess([verb, '--secrets-dir', secrets], folder);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`the secret "${secrets}/key" cannot be read: it does not`),
    ]);
  });
});

describe('with the secret files', () => {
  const ADMIN = 'admin-0123456789abcdef';
  const sentKeys = () => upstream.requests.map(({ headers }) => headers[headers.indexOf('X-Key') + 1]);

  it('run sends and verifies them in all workers, reads them again, and prints none of them', async () => {
    writeFileSync(join(secrets, 'admin'), `${ADMIN}\n`);
    writeFileSync(join(secrets, 'key'), 'first-0123456789\n');
    const cli = startCli(['run', '--secrets-dir', 'secrets'], folder);
    const [, url = '', admin = ''] = await cli.waitFor(/"url":"([^"]+)","admin":"([^"]+)".*"msg":"serving"/);
    const send = async () => {
      expect((await sendRequest(Number(new URL(url).port), head('GET /one HTTP/1.1'))).status).toBe(200);
    };
    const ask = (path: string, token = ADMIN) => fetch(admin + path, { headers: { Authorization: `Bearer ${token}` } });
    for (let count = 0; count < 8; count += 1) await send();
    expect(new Set(sentKeys())).toEqual(new Set(['Key first-0123456789']));
    expect((await ask('/status')).status).toBe(200);
    expect((await ask('/status', 'admin-0123456789abcdee')).status).toBe(401);
    writeFileSync(join(secrets, 'key'), 'second-0123456789\n');
    await cli.waitFor(/"msg":"manifest reloaded"|"kind":"accepted"|reloaded/);
    upstream.requests.length = 0;
    for (let count = 0; count < 8; count += 1) await send();
    expect(new Set(sentKeys())).toEqual(new Set(['Key second-0123456789']));
    // A gateway that waits for a correction still prints nothing.
    writeFileSync(join(secrets, 'key'), 'third\u0001-0123456789\n');
    await cli.waitFor(/manifest rejected/);
    const pages = await Promise.all(
      ['/status', '/manifest', '/metrics', '/openapi.json'].map(async (path) => (await ask(path)).text()),
    );
    await eventually('the problem is in /status', async () => (await (await ask('/status')).text()).includes('X-Key'));
    cli.child.kill('SIGTERM');
    const { out, err } = await cli.result;
    for (const text of [out, err, ...pages]) expect(text).not.toMatch(/first-0|second-0|third|admin-0123/);
    expect(pages[1]).toContain(`\${file:${secrets}/key}`);
  });

  it('the verbs that serve nothing print the same as without them', async () => {
    const { code, out } = await runCli(['explain', 'GET', '/one'], folder);
    expect([code, out]).toEqual([0, expect.stringContaining(`Key \${file:${secrets}/key}`)]);
  });
});
