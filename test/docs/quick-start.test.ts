import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, startCli } from '../support/cli.ts';
import { freePort } from '../support/free-port.ts';
import { IS_DEEP } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
/** Returns the commands below a heading. */
const commandsBelow = (heading: string) => {
  const section = readme.split(`### ${heading}\n`)[1]?.split('\n### ')[0] ?? '';
  return [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
};
const [start = '', call = ''] = commandsBelow('Your own service');
const [install = ''] = commandsBelow('The package');
const packageJson = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream((_request, response) => response.end('my service'));
});
afterAll(() => upstream.close());

/** Returns commands with the address of a service that exists, and a free port in place of that of the gateway. */
const withAddresses = (commands: string, port: number) =>
  commands.replaceAll('http://127.0.0.1:3000', upstream.url).replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);

/** Runs the last command of the quick start and returns its output. */
const request = async (port: number) => (await promisify(execFile)('sh', ['-c', withAddresses(call, port)])).stdout;

describe('the quick start for a service', () => {
  it('names the version of the package and of Node', () => {
    // Node 20 may install the packages: npm prints no warnings about the engines of what Node 26 runs.
    expect(readFileSync(join(root, '.npmrc'), 'utf8')).toMatch(/^loglevel=error$/m);
    expect(install).toContain(`npm install node@${packageJson.devDependencies.node} `);
    expect(install).toContain(`/signing-gateway-${packageJson.version}.tgz\n`);
  });

  it('allows the install script of Node, as the package.json of this project does', () => {
    const [first = ''] = install.split('\n');
    const [, text = ''] = /^echo '(.*)' > package\.json$/.exec(first) ?? [];
    expect(JSON.parse(text)).toEqual({ allowScripts: packageJson.allowScripts });
    expect(readFileSync(join(root, 'action.yml'), 'utf8')).toContain(`echo '${text}' > .node/package.json\n`);
  });

  it('has commands that lead to a response of the service', async () => {
    const port = await freePort();
    const folder = temporaryFolder('quick-start');
    const env = { LISTEN: `127.0.0.1:${port}`, ADMIN: '127.0.0.1:0' };
    const checkout = join(folder, 'checkout');
    mkdirSync(checkout);
    const commands = [...withAddresses(start, port).matchAll(/npm run gateway -- (.*)$/gm)].map(
      ([, args = '']) => args,
    );
    const [init = '', dev = '', ...others] = commands;
    expect([others, start.split('\n').filter(Boolean).length]).toEqual([[], 2]);
    expect(await runCli(init.split(' '), checkout, env)).toMatchObject({
      code: 0,
      err: expect.stringContaining(`${upstream.url} responds to GET / with 200.`),
    });
    const cli = startCli(dev.split(' '), checkout, env);
    await cli.waitFor(/is served at/);
    const output = await request(port);
    cli.child.kill('SIGINT');
    expect((await cli.result).code).toBe(0);
    expect(output).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nmy service$/);
  });
});

// Creates the package and installs it from a registry, which takes half a minute.
describe.runIf(IS_DEEP)('the quick start with the package', () => {
  it('leads to a response of the service in an empty folder', async () => {
    const port = await freePort();
    const base = temporaryFolder('quick-start', { 'signing-gateway/empty': '', 'mine/empty': '' });
    const folder = join(base, 'mine');
    execFileSync('npm', ['pack', '--pack-destination', join(base, 'signing-gateway')], { cwd: root, stdio: 'pipe' });
    // `npm test` names its own folders in these variables.
    const inherited = Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$)/.test(name));
    const env = { ...Object.fromEntries(inherited), LISTEN: `127.0.0.1:${port}`, ADMIN: '127.0.0.1:0' };
    // Without `--upstream` the starter serves the echo upstream; this test names a service instead.
    const commands = withAddresses(install, port).replace(' init\n', ` init --upstream ${upstream.url}\n`);
    // The commands get a process group, so that the signal reaches each of them, as Ctrl+C does.
    const child = spawn('sh', ['-ec', commands], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(child, 'exit');
    let text = '';
    const { promise: serving, resolve } = Promise.withResolvers<void>();
    child.stderr.on('data', (chunk) => {
      text += chunk;
      if (text.includes('is served at')) resolve();
    });
    await Promise.race([serving, ended]);
    const output = await request(port);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await ended;
    expect(output, text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nmy service$/);
  });
});
