import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Operating, startOperating } from '../support/admin.ts';
import { createPair } from '../support/certificate.ts';
import { runCli } from '../support/cli.ts';

const REST = `upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;
const manifestOf = (admin: string, rest = REST) => `version: 1
listen: 127.0.0.1:0
admin: ${admin}
${rest}`;
const TOKEN = '7mWq2vXc9RtLkP4zGhN8';

function folderWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'health-'));
  writeFileSync(join(folder, 'gateway.yaml'), text);
  return folder;
}

/** Asks the listener on this port, by a manifest that is written so. */
const health = (admin: string, args: string[] = [], env: Record<string, string> = {}, rest = REST) =>
  runCli(['health', ...args], folderWith(manifestOf(admin, rest)), env);

let site: Operating;
let isStopping = false;
beforeAll(async () => {
  site = await startOperating(manifestOf('127.0.0.1:0'), {}, {}, { isStopping: () => isStopping });
});
afterAll(() => site.close());

describe('health', () => {
  it('exits with 0 while the gateway is ready, and says so', async () => {
    expect(await health(`127.0.0.1:${site.admin.port}`)).toEqual({ code: 0, out: 'ready\n', err: '' });
    const folder = folderWith(manifestOf(`127.0.0.1:${site.admin.port}`));
    expect((await runCli(['health', '-c', join(folder, 'gateway.yaml')], tmpdir())).out).toBe('ready\n');
  });

  it('exits with 1 while it is not, but for who asks whether it lives', async () => {
    isStopping = true;
    const told = await health(`127.0.0.1:${site.admin.port}`);
    expect(told).toEqual({ code: 1, out: 'stopping: the process was asked to stop\n', err: '' });
    const live = await health(`127.0.0.1:${site.admin.port}`, ['--live']);
    expect(live).toEqual({ code: 0, out: 'alive\n', err: '' });
    isStopping = false;
  });

  it.each([
    ['a route is wrong', REST.replace('access: public', 'acess: public')],
    ['a variable is missing', REST.replace('http://127.0.0.1:9', '${NOT_THERE}')],
    ['it is cut off', REST.slice(0, -30)],
    ['it is no YAML', `${REST}\t- {`],
  ])('does not mind what else is saved, since the last good manifest serves on: %s', async (_name, rest) => {
    const { code, out } = await health(`127.0.0.1:${site.admin.port}`, [], {}, rest);
    expect([code, out]).toEqual([0, 'ready\n']);
  });

  it.each([
    ['by a variable', () => ["'${ADMIN}'", { ADMIN: `127.0.0.1:${site.admin.port}` }] as const],
    ['as a map', () => [`{ listen: 'localhost:${site.admin.port}' }`, {}] as const],
    [
      'over lines, with a token that a probe has not',
      () =>
        [
          `\n\n  # whoever asks\n# is asked\n  listen: '0.0.0.0:${site.admin.port}'\n  token: '\${TOKEN}'`,
          { TOKEN },
        ] as const,
    ],
    ['as an alias', () => [`&here 127.0.0.1:${site.admin.port}\n"listen": *here`, {}] as const],
  ])('reads the address that is written %s', async (_name, written) => {
    const [admin, env] = written();
    const { code, out, err } = await health(admin, [], env);
    expect([code, out], err).toEqual([0, 'ready\n']);
  });

  it('asks by TLS, and of whom a certificate is asked', async () => {
    const [own, client] = [createPair(), createPair({ name: 'operator' })];
    const files = { 's.crt': own.certificate, 's.key': own.key, 'ca.crt': client.certificate };
    const tls = '{ certificate: s.crt, key: s.key, clientCa: ca.crt }';
    const closed = await startOperating(manifestOf(`{ listen: '127.0.0.1:0', tls: ${tls} }`), {}, files);
    const { code, out } = await health(`{ listen: '127.0.0.1:${closed.admin.port}', tls: ${tls} }`);
    expect([code, out]).toEqual([0, 'ready\n']);
    await closed.close();
  });

  it('exits with 1 when nobody listens there, or what listens says nothing in time', async () => {
    const silent = await listening();
    const { port } = silent.address() as { port: number };
    const late = await health(`127.0.0.1:${port}`, ['--timeout', '50ms']);
    const url = `http://127.0.0.1:${port}/readyz`;
    expect(late).toEqual({ code: 1, out: `no answer from ${url}: not within 50 ms\n`, err: '' });
    await new Promise((resolve) => silent.close(resolve));
    expect(await health(`127.0.0.1:${port}`)).toEqual({
      code: 1,
      out: `no answer from ${url}: ECONNREFUSED\n`,
      err: '',
    });
  });

  it.each([
    ['a time limit of nothing', '127.0.0.1:9', ['--timeout', '2'], '"2" is no time limit; write 500ms, or 2s'],
    ['no port', '127.0.0.1:0', [], '"admin" has port 0'],
    ['a faulty address', 'here', [], 'no "admin" can be read; write admin: 127.0.0.1:9901'],
    ['two manifests', '127.0.0.1:9', ['a.yaml', 'b.yaml'], 'one manifest at a time'],
    ['a manifest that is not there', '127.0.0.1:9', ['a.yaml'], 'a.yaml: there is no such file'],
  ])('exits with 2 for %s', async (_name, admin, args, message) => {
    const { code, out, err } = await health(admin, args);
    expect([code, out, err]).toEqual([2, '', expect.stringContaining(message)]);
  });
});

/** What takes connections, and says nothing. */
function listening(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer((socket) => void socket.resume().on('error', () => undefined));
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
