import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, delimiter, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEMO_PASSWORD } from '../examples/platform/samples.ts';
import { IS_DEEP } from './support/runs.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import { startUpstream } from './support/upstream.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const packageJson = JSON.parse(read('package.json'));
const lock = JSON.parse(read('package-lock.json'));

describe('package.json', () => {
  it('names only existing files, and every page that is outside of the folder of the documentation', () => {
    const missing = packageJson.files.filter(
      (name: string) => name !== 'dist' && !name.startsWith('!') && globSync(name, { cwd: root }).length === 0,
    );
    expect(missing).toEqual([]);
  });
});

/** `npm test` names its own folders in these variables. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:npm_|INIT_CWD$|NODE_OPTIONS$|DOCS_URL$)/.test(name)),
);

/** Runs a command and returns its output. */
async function runCommand(command: string, args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const options = { cwd, env: { ...inherited, ...env }, maxBuffer: 50_000_000 };
  return (await promisify(execFile)(command, [...args], options)).stdout;
}

/** Creates the package of a checkout and returns its path. */
async function pack(checkout: string, env: Record<string, string> = {}): Promise<string> {
  const folder = temporaryFolder('pack');
  const name = await runCommand('npm', ['pack', '--silent', '--pack-destination', folder], checkout, env);
  return join(folder, name.trim());
}

/** Copies the files of this checkout, without the built ones, to another folder. */
function copyCheckout(): string {
  const folder = temporaryFolder('checkout');
  const names = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const name of names.trim().split('\n'))
    if (existsSync(join(root, name))) cpSync(join(root, name), join(folder, name));
  // The bundler writes the paths of the packages, so they must be in the checkout. Links are faster, on one file system.
  const [from, to] = [join(root, 'node_modules'), join(folder, 'node_modules')];
  execFileSync('sh', ['-c', 'cp -al "$0" "$1" 2>/dev/null || cp -a "$0" "$1"', from, to]);
  return folder;
}

// Builds and installs the package several times, which takes minutes and needs a registry.
describe.runIf(IS_DEEP)('the package', () => {
  let archive = '';
  let unpacked = '';
  let otherCheckout = '';
  beforeAll(async () => {
    archive = await pack(root);
    otherCheckout = copyCheckout();
    unpacked = temporaryFolder('unpacked');
    execFileSync('tar', ['xzf', archive, '-C', unpacked]);
    unpacked = join(unpacked, 'package');
  });

  it('is identical, byte for byte, if another checkout creates it', async () => {
    const hashOf = (path: string) => createHash('sha512').update(readFileSync(path)).digest('hex');
    expect(hashOf(await pack(otherCheckout))).toBe(hashOf(archive));
  });

  it('has an executable command and no link to a missing file', () => {
    expect(statSync(join(unpacked, packageJson.bin['signing-gateway'])).mode & 0o111).toBe(0o111);
    const pages = globSync('**/*.md', { cwd: unpacked });
    const broken = pages.flatMap((page) => {
      const text = readFileSync(join(unpacked, page), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
      const links = [...text.matchAll(/\]\((?!https?:)([^)#\s]+)/g)].map(([, path = '']) => path);
      return links
        .filter((path) => !existsSync(join(unpacked, normalize(join(dirname(page), path)))))
        .map((path) => `${page}: ${path}`);
    });
    expect(broken).toEqual([]);
    expect(pages.length).toBeGreaterThan(30);
  });

  it('has no account of the sandbox', () => {
    const names = globSync('**/*', { cwd: unpacked, withFileTypes: true });
    const paths = names.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    expect(paths.length).toBeGreaterThan(100);
    const isOfSandbox = (path: string) =>
      path.includes('examples/platform') || readFileSync(path, 'utf8').includes(DEMO_PASSWORD);
    expect(paths.filter(isOfSandbox)).toEqual([]);
  });

  it('links to its documentation at the address that the build names', async () => {
    const folder = temporaryFolder('docs-url');
    execFileSync('tar', [
      'xzf',
      await pack(otherCheckout, { DOCS_URL: 'https://docs.example/gateway/' }),
      '-C',
      folder,
    ]);
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'gateway.yaml'), 'version: 1\nupstreams: {}\nroutes: []\nadmn: 1\n');
    const lint = ['package/dist/cli/main.js', 'lint', '-f', 'sarif'];
    const failing = await promisify(execFile)(process.execPath, lint, { cwd: folder }).catch((error) => error);
    const [rule] = JSON.parse(failing.stdout).runs[0].tool.driver.rules;
    expect(rule.helpUri).toMatch(/^https:\/\/docs\.example\/gateway\/rules\/\w+\.md#[a-z-]+$/);
  });

  it('loads the validator of manifests in no worker', () => {
    const readFile = (file: string) => readFileSync(join(unpacked, 'dist/cli', file), 'utf8');
    const loaded = new Set(['worker.js']);
    for (const file of loaded)
      for (const [, name = ''] of readFile(file).matchAll(/(?:from|import)\(?["`]\.\/([^"`]+)["`]/g)) loaded.add(name);
    const hasSchema = (file: string) => readFile(file).includes('urn:signing-gateway:manifest:1');
    expect(hasSchema('validate.cjs')).toBe(true);
    expect([...loaded].filter(hasSchema)).toEqual([]);
    expect(loaded.size).toBeGreaterThan(30);
  });

  it('keeps no compiled code in the threads of a gateway', async () => {
    const report = `import { isMainThread } from 'node:worker_threads'; import { getCompileCacheDir } from 'node:module';
      if (!isMainThread) console.log('folder of a thread: ' + getCompileCacheDir());`;
    const folder = temporaryFolder('threads', {
      'gateway.yaml': `version: 1
listen: 127.0.0.1:0
server: { workers: 2 }
routes:
  - { id: one, method: GET, path: /one, respond: { status: 200 }, access: public }
`,
      'report.mjs': report,
    });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    cpSync(unpacked, join(folder, 'package'), { recursive: true });
    const env = { ...inherited, NODE_OPTIONS: `--import ${join(folder, 'report.mjs')}`, NODE_COMPILE_CACHE: folder };
    const child = spawn(process.execPath, ['package/dist/cli/main.js', 'run'], { cwd: folder, env });
    const ended = once(child, 'exit');
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
      // Worker 1 and the thread that watches the files.
      const isComplete = output.split('folder of a thread').length > 2 && output.includes('"serving"');
      if (isComplete && !child.killed) child.kill('SIGINT');
    });
    expect(await ended).toEqual([0, null]);
    expect(output.match(/(?<=folder of a thread: ).*/g)).toEqual(['undefined', 'undefined']);
  });

  it.concurrent('has a bill of materials of every package that it needs', async () => {
    const sbom = JSON.parse(readFileSync(join(unpacked, 'dist/sbom.cdx.json'), 'utf8'));
    const production = Object.entries<{ dev?: boolean; version: string; integrity: string }>(lock.packages).filter(
      ([path, { dev }]) => path !== '' && dev !== true,
    );
    const expected = production.map(([path, { version, integrity }]) => [
      `${path.replace(/^.*node_modules\//, '')}@${version}`,
      Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex'),
    ]);
    const listed = sbom.components.map((component: { 'bom-ref': string; hashes: { content: string }[] }) => [
      component['bom-ref'],
      component.hashes[0]?.content,
    ]);
    expect(listed.sort()).toEqual(expected.sort());
    const { name, version } = sbom.metadata.component;
    expect([name, version]).toEqual([packageJson.name, packageJson.version]);

    // The schema of CycloneDX is in its library.
    const folder = temporaryFolder('cyclonedx');
    await runCommand(
      'npm',
      ['install', '--silent', '--ignore-scripts', '--omit=optional', '@cyclonedx/cyclonedx-library@10.3.0'],
      folder,
    );
    const schemas = join(folder, 'node_modules/@cyclonedx/cyclonedx-library/res/schema');
    const schemaOf = (file: string) => JSON.parse(readFileSync(join(schemas, file), 'utf8'));
    const ajv = new Ajv({ strict: false, validateFormats: false });
    // They refer to each other by their file names, and not by their ids.
    for (const name of ['spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json'])
      ajv.addSchema({ ...schemaOf(name), $id: `http://cyclonedx.org/schema/${name}` });
    const isSbom = ajv.compile(schemaOf(`bom-${sbom.specVersion}.SNAPSHOT.schema.json`));
    expect(isSbom(sbom), JSON.stringify(isSbom.errors)).toBe(true);
    expect(isSbom({ ...sbom, components: [{ name: 'without a type' }] })).toBe(false);
  });

  const oldest = Number.parseInt(packageJson.engines.node.replace(/\D*/, ''), 10);
  // Installations wait for the registry, so they run concurrently.
  it.concurrent.each([22, 24, 26].filter((major) => major >= oldest))(
    'runs with Node %i, also without an installation',
    async (major) => {
      const folder = temporaryFolder('installed', { 'package.json': '{ "allowScripts": { "node": true } }' });
      await runCommand('npm', ['install', '--silent', `node@${major}`, archive], folder);
      const env = { PATH: [join(folder, 'node_modules/.bin'), process.env['PATH']].join(delimiter) };
      expect(await runCommand('node', ['--version'], folder, env)).toMatch(new RegExp(`^v${major}\\.`));
      expect(await runCommand('npx', ['signing-gateway', '--version'], folder, env)).toBe(`${packageJson.version}\n`);
      await runCommand('npx', ['signing-gateway', 'init'], folder, env);
      await runCommand('npx', ['signing-gateway', 'lint', '--fail-on', 'warning'], folder, env);
      expect(await runCommand('npx', ['signing-gateway', 'test'], folder, env)).toContain(' passed\n');
      const empty = temporaryFolder('npx');
      cpSync(archive, join(empty, basename(archive)));
      const npx = ['--yes', `./${basename(archive)}`, '--version'];
      expect(await runCommand('npx', npx, empty, env)).toBe(`${packageJson.version}\n`);
    },
  );

  it.concurrent('is a library with types, and exports the spans of a gateway', async () => {
    const folder = temporaryFolder('library', { 'package.json': '{ "type": "module" }' });
    const page = read('docs/operations.md');
    const [install = ''] = /^npm install @opentelemetry\/.*$/m.exec(page) ?? [];
    expect(page).toContain(`RUN ${install.replace('install', 'install --prefix /opt')}\n`);
    await runCommand('npm', ['install', '--silent', archive, ...install.split(' ').slice(2)], folder);
    cpSync(join(root, 'examples/library'), folder, { recursive: true });
    expect(await runCommand(process.execPath, ['check.js'], folder)).toContain('did you mean "contacts"?');
    mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
    symlinkSync(join(root, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'));
    symlinkSync(join(root, 'node_modules/undici-types'), join(folder, 'node_modules/undici-types'));
    const types = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--types',
      'node',
      '--allowJs',
      '--checkJs',
      'check.js',
    ];
    await runCommand(join(root, 'node_modules/.bin/tsc'), types, folder).catch(({ stdout }) => expect(stdout).toBe(''));

    const received: string[] = [];
    const collector = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      received.push(Buffer.concat(chunks).toString());
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const upstream = await startUpstream((_request, response) => response.end('one'));
    writeFileSync(
      join(folder, 'gateway.yaml'),
      `version: 1
listen: 127.0.0.1:0
upstreams: { up: { url: '${upstream.url}' } }
routes:
  - { id: one, method: GET, path: '/one/{id}', upstream: up, access: public }
tracing: { sample: 0 }
`,
    );
    const [, options = ''] = /^node (--disable-sigusr1 --import .*) run$/m.exec(page) ?? [];
    const child = spawn(process.execPath, [...options.split(' '), 'run'], {
      cwd: folder,
      env: {
        ...inherited,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
        OTEL_SERVICE_NAME: 'gateway',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    const ended = once(child, 'exit');
    while (!output.includes('"serving"') && child.exitCode === null)
      await Promise.race([once(child.stdout, 'data'), ended]);
    const [url = ''] = /http:\/\/[\d.]+:\d+/.exec(output) ?? [];
    // The manifest samples no new trace. The sampler of the SDK follows the mark of the client.
    const id = '4bf92f3577b34da6a3ce929d0e0e4736';
    for (const flags of [undefined, '00', '01']) {
      const headers = flags === undefined ? {} : { traceparent: `00-${id}-00f067aa0ba902b7-${flags}` };
      expect(await (await fetch(`${url}/one/7`, { headers })).text()).toBe('one');
    }
    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    collector.close();
    await upstream.close();
    const [resource] = JSON.parse(received.join('')).resourceSpans;
    expect(JSON.stringify(resource.resource)).toContain('"service.name","value":{"stringValue":"gateway"}');
    const names = resource.scopeSpans[0].spans.map(({ name }: { name: string }) => name);
    expect(names.sort()).toEqual(['GET', 'GET /one/{id}']);
    expect(resource.scopeSpans[0].spans.map(({ traceId }: { traceId: string }) => traceId)).toEqual([id, id]);
  });
});
