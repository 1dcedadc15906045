import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { contextNames, mountManifest, readStages, runStages, wordsOf } from '../support/dockerfile.ts';
import { freePort } from '../support/free-port.ts';

const root = new URL('../../', import.meta.url).pathname;
const pack = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const stages = readStages();
const last = stages.at(-1) ?? [];
const oneOf = (name: string) => last.findLast((instruction) => instruction.name === name)?.words ?? '';

describe('the Dockerfile', () => {
  it('is of the Node that all is tried with', () => {
    expect(stages.length).toBe(3);
    for (const [first] of stages)
      expect(first?.words).toMatch(new RegExp(`^node:${pack.devDependencies.node}-bookworm-slim(?: |$)`));
  });

  it('runs as nobody, is asked how it is by the verb, and stops by SIGTERM', () => {
    expect(oneOf('USER')).toMatch(/^[1-9]\d+:[1-9]\d+$/);
    expect(oneOf('STOPSIGNAL')).toBe('SIGTERM');
    expect(wordsOf(last, 'HEALTHCHECK')).toEqual([...wordsOf(last, 'ENTRYPOINT'), 'health', '--live']);
    expect(wordsOf(last, 'CMD')).toEqual(['run']);
  });

  it('takes no tools along, and from here no more than it copies', () => {
    expect(last.filter(({ name }) => name === 'RUN')).toEqual([]);
    const copied = stages.flat().filter(({ name, words }) => name === 'COPY' && !words.startsWith('--from'));
    const sources = copied.flatMap(({ words }) => words.split(' ').slice(0, -1));
    expect([...new Set(sources)].sort()).toEqual(contextNames().sort());
    expect(sources.filter((source) => !existsSync(join(root, source)))).toEqual([]);
  });
});

// The packages are installed twice and all is built: half a minute, and a registry to ask.
describe.runIf(process.env['IMAGE_STEPS'] === '1')("the Dockerfile's steps, in plain folders", () => {
  it('make what serves, writes nothing, is well, and stops', { timeout: 240_000 }, async () => {
    const { image, first, remove } = runStages(stages);
    const [port, adminPort] = [await freePort(), await freePort()];
    const cwd = mountManifest(
      image,
      oneOf('WORKDIR'),
      `version: 1
listen: 127.0.0.1:${port}
admin: 127.0.0.1:${adminPort}
server: { stopping: { delay: 0s } }
upstreams: { up: { url: 'http://127.0.0.1:9' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`,
    );
    // The root is read-only, and there is no other place to write to.
    execFileSync('chmod', ['-R', 'a+rX,a-w', image]);
    execFileSync('chmod', ['a+rx', join(image, '..')]);
    const options = { cwd, env: { TMPDIR: join(image, 'nowhere'), NODE_ENV: 'production' }, ...nobody() };
    const placed = (words: string[]) => words.slice(1).map((word) => (word.startsWith('/') ? join(image, word) : word));
    const node = join(first, 'build/node_modules/node/bin/node');
    const entry = placed(wordsOf(last, 'ENTRYPOINT'));
    const run = spawn(node, [...entry, ...wordsOf(last, 'CMD')], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let told = '';
    run.stdout.on('data', (piece) => {
      told += piece;
    });
    run.stderr.on('data', (piece) => {
      told += piece;
    });
    while (!told.includes('"msg":"serving"') && run.exitCode === null)
      await Promise.race([once(run.stdout, 'data'), once(run, 'exit')]);
    const health = spawnSync(node, placed(wordsOf(last, 'HEALTHCHECK')), { ...options, encoding: 'utf8' });
    expect([health.status, health.stdout, told]).toEqual([0, 'alive\n', expect.stringContaining('"serving"')]);
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
    expect(spawnSync(node, placed(wordsOf(last, 'HEALTHCHECK')), options).status).toBe(1);
    remove();
  });
});

/** Who is root here is nobody there. */
function nobody(): { uid?: number; gid?: number } {
  const [uid, gid] = oneOf('USER').split(':').map(Number);
  return process.getuid?.() === 0 && uid !== undefined && gid !== undefined ? { uid, gid } : {};
}
