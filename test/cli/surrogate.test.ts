import { describe, expect, it } from 'vitest';
import { runCli } from '../support/cli.ts';
import { startGateway } from '../support/gateway.ts';
import { eventually } from '../support/site.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const UUID = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';
const ENV = { LOG_SECRET: 'k'.repeat(32) };
const MANIFEST = `version: 1
listen: 127.0.0.1:0
log: { secret: '\${LOG_SECRET}' }
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: download, method: GET, path: '/public/{token}', upstream: up, access: public }
  - { id: all, method: GET, path: /all, upstream: up, access: public }
`;

const folder = temporaryFolder('surrogate', {
  'gateway.yaml': MANIFEST,
  'without-secret.yaml': MANIFEST.replace(/^log: .*\n/m, ''),
  'broken.yaml': 'version: 2\n',
});
const run = (...args: string[]) => runCli(['surrogate', ...args], folder, ENV);

describe('surrogate', () => {
  it('prints the path that the running gateway logs, which marks it', async () => {
    const site = await startGateway(MANIFEST, ENV);
    for (const [method, path, keyed] of [
      ['GET', `/public/${UUID}`, true],
      ['GET', '/public/anna.schmidt%40example.com?page=2', true],
      ['POST', `/public/${UUID}`, true],
      ['GET', `/none/${UUID}`, true],
      ['GET', '/all', undefined],
    ] as const) {
      site.lines.length = 0;
      await fetch(`${site.url}${path}`, { method });
      await eventually('the line', () => site.lines.length === 1);
      const [line] = site.lines;
      expect(await run(method, path)).toEqual({ code: 0, out: `${line?.['path']}\n`, err: '' });
      expect(line?.['keyed']).toBe(keyed);
      expect(JSON.stringify(line).includes(UUID)).toBe(false);
    }
    await site.close();
  });

  it('refuses to print surrogates that differ from those of the gateway', async () => {
    const { code, out, err } = await run('GET', `/public/${UUID}`, 'without-secret.yaml');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe(
      'signing-gateway: without-secret.yaml: each process has its own surrogates without log.secret; set log: { secret: "${LOG_SECRET}" }\n',
    );
    expect((await run('GET', '/all', 'without-secret.yaml')).out).toBe('/all\n');
  });

  it('never prints the secret', async () => {
    for (const args of [['GET', `/public/${UUID}`], ['GET', '/all'], ['GET'], ['GET', '/a/../b']]) {
      const { out, err } = await run(...args);
      expect(out + err).not.toContain(ENV.LOG_SECRET);
    }
  });

  it('says what is wrong', async () => {
    expect((await run('GET')).err).toContain('name the request: METHOD PATH');
    expect((await run('GET', 'public')).code).toBe(2);
    expect(await run('GET', '/a/../b')).toMatchObject({
      code: 2,
      err: 'signing-gateway: the gateway refuses this path (path_dot_segment), and its line has no path\n',
    });
    expect((await run('GET', '/all', 'broken.yaml')).code).toBe(1);
    expect((await runCli(['surrogate', 'GET', '/all'], folder)).err).toContain('LOG_SECRET');
  });
});
