import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextNames, mountManifest, readStages, runStages, wordsOf } from '../support/dockerfile.ts';
import { freePort } from '../support/free-port.ts';
import { IS_DEEP } from '../support/runs.ts';

const root = new URL('../../', import.meta.url).pathname;
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const stages = readStages();
const last = stages.at(-1) ?? [];
const wordsAfter = (name: string) => last.findLast((instruction) => instruction.name === name)?.words ?? '';

describe('the Dockerfile', () => {
  it('uses the version of Node that the tests use', () => {
    expect(stages.length).toBe(3);
    for (const [first] of stages)
      expect(first?.words).toMatch(new RegExp(`^node:${packageJson.devDependencies.node}-bookworm-slim(?: |$)`));
  });

  it('runs as a non-root user, serves other machines, checks its health with a small program and stops on SIGTERM', () => {
    expect(wordsAfter('USER')).toMatch(/^[1-9]\d+:[1-9]\d+$/);
    expect(wordsAfter('STOPSIGNAL')).toBe('SIGTERM');
    expect(wordsOf(last, 'HEALTHCHECK')).toEqual(['node', '/opt/signing-gateway/dist/cli/container-health.js']);
    expect(wordsOf(last, 'CMD')).toEqual(['run', '--listen', '0.0.0.0:8080']);
    expect(wordsAfter('EXPOSE')).toMatch(/^8080 /);
  });

  it('compiles with the V8 flags that it runs with, because Node accepts compiled code only with the same ones', () => {
    const [build = []] = stages;
    const { words } = build.findLast(({ name }) => name === 'RUN') ?? { words: '' };
    const flags = wordsOf(last, 'ENTRYPOINT').filter((word) => word.startsWith('--') && word !== '--disable-sigusr1');
    expect(words).toBe(
      `NODE_COMPILE_CACHE=dist/compile-cache NODE_COMPILE_CACHE_PORTABLE=1 node ${flags.join(' ')} dist/cli/main.js run --help`,
    );
    expect(imageVariables('/')).toMatchObject({
      NODE_COMPILE_CACHE: '/opt/signing-gateway/dist/compile-cache',
      NODE_COMPILE_CACHE_PORTABLE: '1',
    });
  });

  it('runs no command in the final stage, and the build context has only the files that it copies', () => {
    expect(last.filter(({ name }) => name === 'RUN')).toEqual([]);
    const copied = stages.flat().filter(({ name, words }) => name === 'COPY' && !words.startsWith('--from'));
    const sources = copied.flatMap(({ words }) => words.split(' ').slice(0, -1));
    expect([...new Set(sources)].sort()).toEqual(contextNames().sort());
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });
});

// Installs the packages twice and builds the project, which takes half a minute and needs a registry.
describe.runIf(IS_DEEP)('the instructions of the Dockerfile, in plain folders', () => {
  it('create an installation that serves, is healthy and stops without writing a file', async () => {
    const { image, first, remove } = runStages(stages);
    onTestFinished(remove);
    const [port, adminPort] = [await freePort(), await freePort()];
    // The gateway is process 1 only in a container.
    const checkHealth = (pid: number | undefined) =>
      spawnSync(node, [...resolvePaths(wordsOf(last, 'HEALTHCHECK')), String(pid)], { ...options, encoding: 'utf8' });
    const cwd = mountManifest(
      image,
      wordsAfter('WORKDIR'),
      `version: 1
listen: 127.0.0.1:80
admin: 127.0.0.1:${adminPort}
server: { stopping: { delay: 0s } }
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`,
    );
    // The root is read-only, and no other folder is writable.
    execFileSync('chmod', ['-R', 'a+rX,a-w', image]);
    execFileSync('chmod', ['a+rx', join(image, '..')]);
    const options = { cwd, env: { TMPDIR: join(image, 'nowhere'), ...imageVariables(image) }, ...imageUser() };
    const resolvePaths = (words: string[]) =>
      words.slice(1).map((word) => (word.startsWith('/') ? join(image, word) : word));
    const node = join(first, 'build/node_modules/node/bin/node');
    const entry = resolvePaths(wordsOf(last, 'ENTRYPOINT'));
    const command = wordsOf(last, 'CMD').map((word) => word.replace(':8080', `:${port}`));
    const run = spawn(node, [...entry, ...command], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    run.stdout.on('data', (chunk) => {
      output += chunk;
    });
    run.stderr.on('data', (chunk) => {
      output += chunk;
    });
    while (!output.includes('"msg":"serving"') && run.exitCode === null)
      await Promise.race([once(run.stdout, 'data'), once(run, 'exit')]);
    const health = checkHealth(run.pid);
    expect([health.status, health.stdout, output]).toEqual([0, 'alive\n', expect.stringContaining('"serving"')]);
    expect((await fetch(`http://127.0.0.1:${port}/nowhere`)).status).toBe(404);
    expect(await (await fetch(`http://127.0.0.1:${adminPort}/page/page.js`)).text()).toContain('refresh');
    const rules = spawnSync(node, [...entry, 'lint', '--explain', 'route-unreachable'], {
      ...options,
      encoding: 'utf8',
    });
    expect([rules.status, rules.stderr]).toEqual([0, '']);
    expect(existsSync(join(image, 'opt/signing-gateway/node_modules/typescript'))).toBe(false);
    run.kill('SIGTERM');
    expect(await once(run, 'exit')).toEqual([0, null]);
    expect(checkHealth(run.pid).status).toBe(1);
  });
});

/** Returns the variables of the final stage, with paths in this root folder. */
function imageVariables(image: string): Record<string, string> {
  const variables = wordsAfter('ENV')
    .split(/\s+/)
    .map((word) => word.split('='));
  return Object.fromEntries(
    variables.map(([name = '', value = '']) => [name, value.startsWith('/') ? join(image, value) : value]),
  );
}

/** Returns the user of the image if the test runs as root. */
function imageUser(): { uid?: number; gid?: number } {
  const [uid, gid] = wordsAfter('USER').split(':').map(Number);
  return process.getuid?.() === 0 && uid !== undefined && gid !== undefined ? { uid, gid } : {};
}
