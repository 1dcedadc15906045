import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { MAIN } from '../support/cli.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Prints the built-in modules that the process has loaded, at its end. */
const PRINT_MODULES =
  'data:text/javascript,process.on("exit",()=>process.stderr.write(process.moduleLoadList.join("\\n")))';

const MANIFEST = `version: 1
upstreams: { up: { url: http://127.0.0.1:7002 } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;

describe('the process', () => {
  it('loads the HTTP library of Node without its WebSocket client, and no zlib', () => {
    const cwd = temporaryFolder('cli', { 'gateway.yaml': MANIFEST });
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', PRINT_MODULES, MAIN, 'explain', 'GET', '/one'],
      { cwd, encoding: 'utf8' },
    );
    expect(status).toBe(0);
    const modules = stderr.split('\n').map((line) => line.replace('NativeModule ', ''));
    expect(modules).toContain('http');
    expect(modules).not.toContain('internal/deps/undici/undici');
    expect(modules).not.toContain('zlib');
  });

  it('loads no part of the gateway for init, which is the first command of a newcomer', () => {
    const print = `data:text/javascript,import { registerHooks } from 'node:module';registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context); } })`;
    const { status, stderr } = spawnSync(process.execPath, ['--import', print, MAIN, 'init'], {
      cwd: temporaryFolder('cli'),
      encoding: 'utf8',
    });
    const loaded = stderr.split('\n').filter((line) => line.startsWith('file:') && !line.includes('/cli/'));
    expect(status).toBe(0);
    expect(loaded.map((url) => url.replace(/.*\/src\//, ''))).toEqual(
      expect.arrayContaining(['engine/dns/loopback.ts']),
    );
    expect(loaded.length).toBeLessThan(15);
  });
});
