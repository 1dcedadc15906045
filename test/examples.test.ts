import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { lint } from '../src/check/lint/lint.ts';
import { load } from '../src/engine/load.ts';
import { createFileEnvironment } from '../src/engine/manifest/source.ts';
import { runCli } from './support/cli.ts';
import { expectSection } from './support/section.ts';
import { startUpstream } from './support/upstream.ts';

const EXAMPLES = fileURLToPath(new URL('../examples/', import.meta.url));
const PACKAGE = new URL('support/source-package.ts', import.meta.url).href;
const readme = readFileSync(join(EXAMPLES, 'README.md'), 'utf8');
const manifests = globSync('*/gateway.yaml', { cwd: EXAMPLES }).sort();

/** Starts an example of the library with the sources in place of the installed package. */
function startExample(name: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--import', PACKAGE, `library/${name}.js`, ...args], {
    cwd: EXAMPLES,
    env: { ...process.env, ...env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  return { child, ended: once(child, 'close'), output: () => output };
}

describe('the examples', () => {
  it('are listed in their index', () => {
    // The sandbox, which has no manifest of its own and is no part of the package, has no link.
    const names = readdirSync(EXAMPLES, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    const listed = [...readme.matchAll(/^\| \[`([a-z]+)`\]/gm)].map(([, name]) => name);
    expect(listed.sort()).toEqual(names.filter((name) => name !== 'platform').sort());
    expect(manifests.map((path) => dirname(path))).toEqual(listed.filter((name) => name !== 'library'));
  });

  it.each(manifests)('have no problem in the strictest preset: %s', (name) => {
    const path = join(EXAMPLES, name);
    const loaded = load({ path, text: readFileSync(path, 'utf8') }, createFileEnvironment(path, {}));
    expect(lint(loaded, { preset: 'strict' })).toEqual([]);
  });

  it.each(manifests)('have passing tests with complete coverage: %s', async (name) => {
    const folder = join(EXAMPLES, dirname(name));
    expect(await runCli(['test', '--fail-under', '100'], folder)).toMatchObject({ code: 0 });
    expect(await runCli(['fmt', '--check', 'gateway.yaml', 'gateway.test.yaml'], folder)).toMatchObject({ code: 0 });
  });
});

describe('the examples of the library', () => {
  it('are printed in the documentation', () => {
    for (const name of ['serve', 'check']) {
      const text = readFileSync(join(EXAMPLES, `library/${name}.js`), 'utf8');
      expectSection('docs/library.md', name, `\`\`\`js\n${text.replace(/^\/\*\*[\s\S]*?\*\/\n/, '')}\`\`\`\n`);
    }
  });

  it('serve a manifest until a signal', async () => {
    const upstream = await startUpstream((_request, response) => response.end('news'));
    const { child, ended, output } = startExample('serve', ['public/gateway.yaml'], {
      LISTEN: '127.0.0.1:0',
      SITE_URL: upstream.url,
    });
    while (!output().includes('serves') && child.exitCode === null)
      await Promise.race([once(child.stderr, 'data'), ended]);
    const [url = ''] = /http:\/\/[\d.:]+\d/.exec(output()) ?? [output()];
    expect(await (await fetch(`${url}/news`)).text()).toBe('news');
    expect((await fetch(`${url}/private`)).status).toBe(404);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(output()).toContain('"route":"news"');
    await upstream.close();
  });

  it('print the problems that the documentation shows', async () => {
    const { ended, output } = startExample('check');
    expect(await ended).toEqual([0, null]);
    const page = readFileSync(new URL('../docs/library.md', import.meta.url), 'utf8');
    expect(page).toContain(`$ node check.js\n${output()}\`\`\`\n`);
  });
});
