/**
 * Builds `dist`, the installed package: types, and the program in few files, because loading four hundred files would take most
 * of the time of a lint run. Packages that no check of a manifest needs stay external.
 *
 *     npm run build
 *     DOCS_URL=https://docs.example/gateway npm run build    # reports link to the pages there
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type OutputAsset, type OutputChunk, type Plugin } from 'rolldown';
import { servedName, toScript } from '../src/admin/page.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const EXTERNAL_PACKAGES = ['@opentelemetry/api'];
/**
 * Modules of packages that the gateway does not use: those of the passes of http-proxy-3 that `src/engine/gateway/upstream/http-proxy.ts`
 * replaces, and the metrics of clusters and those that are pushed. They would take 20 MB and 60 ms of each start.
 */
const UNUSED_MODULES: Readonly<Record<string, readonly string[]>> = {
  'http-proxy-3': ['node:http', 'node:https', 'node:http2', 'node:tls', 'follow-redirects', 'debug'],
  '@prometheus-io/client': ['./lib/cluster', './lib/worker', './lib/pushgateway', '@opentelemetry/api'],
};
/**
 * Packages that a usual manifest does not need, and the validator, which no worker needs. Each gets a file of its own, which is read on
 * first use.
 */
const LAZY_MODULES: Readonly<Record<string, string>> = {
  yaml: 'yaml.cjs',
  re2js: 're2js.cjs',
  'csv-parse/sync': 'csv-parse.cjs',
  'src/engine/manifest/validate.generated.ts': 'validate.cjs',
};
const LAZY_MODULE = '\0lazy:';
const require = createRequire(import.meta.url);
const UNUSED_MODULE = '\0unused';

/**
 * Without comments, white space and long names of variables, V8 holds 40 % of the text in memory. Functions, classes and public methods
 * keep their names, for stack traces. Builds are reproducible, so the column in a trace leads to a private method.
 */
const MINIFY = { compress: false, mangle: { toplevel: false, keepNames: true }, codegen: true } as const;
const chunksPlugin: Plugin = {
  name: 'chunks',
  generateBundle: (_options, bundle) => Object.values(bundle).forEach(finishChunk),
};

const docsUrl = readDocsUrl();

rmSync(join(ROOT, 'dist'), { recursive: true, force: true });
execFileSync('tsc', ['-p', 'src', '--emitDeclarationOnly'], { cwd: ROOT, stdio: 'inherit' });
await build({
  cwd: ROOT,
  input: {
    index: 'src/index.ts',
    'cli/main': 'src/cli/main.ts',
    'cli/container-health': 'src/cli/health/container-health.ts',
    'cli/telemetry': 'src/cli/run/register-telemetry.ts',
    // The code loads workers and the admin page from the folder of the file that starts them.
    'cli/validation-worker': 'src/engine/validation/validation-worker.ts',
    'cli/manifest-worker': 'src/process/reload/manifest-worker.ts',
    'cli/file-worker': 'src/process/reload/file-worker.ts',
    'cli/worker': 'src/process/workers/worker.ts',
    'cli/display-worker': 'src/admin/display-worker.ts',
  },
  external: (id, importer) => EXTERNAL_PACKAGES.includes(id) && !isUnused(id, importer),
  platform: 'node',
  transform: docsUrl === undefined ? {} : { define: { DOCS_URL: JSON.stringify(docsUrl) } },
  plugins: [
    {
      name: 'unused-modules',
      resolveId: (id, importer) => (isUnused(id, importer) ? UNUSED_MODULE : undefined),
      // A function, because `debug` exports one that returns one.
      load: (id) => (id === UNUSED_MODULE ? 'module.exports = () => () => undefined;' : undefined),
    },
    {
      name: 'lazy-modules',
      resolveId: (id, importer = '') => {
        const name = id.startsWith('.') ? relative(ROOT, join(dirname(importer), id)) : id;
        if (Object.hasOwn(LAZY_MODULES, name)) return LAZY_MODULE + name;
        return Object.values(LAZY_MODULES).some((file) => id === `./${file}`) ? { id, external: true } : undefined;
      },
      load: (id) =>
        id.startsWith(LAZY_MODULE)
          ? `module.exports = require('./${LAZY_MODULES[id.slice(LAZY_MODULE.length)]}');`
          : undefined,
    },
    chunksPlugin,
  ],
  output: {
    dir: 'dist',
    format: 'esm',
    chunkFileNames: 'cli/[name]-[hash].js',
    minify: MINIFY,
  },
  logLevel: 'warn',
});
await Promise.all(
  Object.entries(LAZY_MODULES).map(([name, file]) =>
    build({
      cwd: ROOT,
      // The CommonJS version: the other one would load its modules before its first use.
      input: name.startsWith('src/') ? join(ROOT, name) : require.resolve(name),
      platform: 'node',
      plugins: [chunksPlugin],
      output: { file: `dist/cli/${file}`, format: 'cjs', exports: 'named', minify: MINIFY },
      logLevel: 'warn',
    }),
  ),
);
const page = join(ROOT, 'src/admin/page');
mkdirSync(join(ROOT, 'dist/cli/page'));
for (const file of readdirSync(page).filter((name) => name !== 'tsconfig.json')) {
  const content = readFileSync(join(page, file), 'utf8');
  writeFileSync(join(ROOT, 'dist/cli/page', servedName(file)), file.endsWith('.ts') ? toScript(content) : content);
}
// npm sets this bit when it installs the package. A file in a checkout or an unpacked archive needs it too.
chmodSync(join(ROOT, 'dist/cli/main.js'), 0o755);

/** Returns the address of the published folder `docs` without a slash at its end; `undefined` without the variable. */
function readDocsUrl(): string | undefined {
  const text = process.env['DOCS_URL'];
  if (text === undefined || text === '') return undefined;
  const { protocol, search, hash } = new URL(text);
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '')
    throw new Error(`DOCS_URL is "${text}"; write an http or https URL without a query`);
  return text.replace(/\/+$/, '');
}

function isUnused(id: string, importer = ''): boolean {
  const isFor = ([name, unused]: [string, readonly string[]]) =>
    unused.includes(id) && importer.includes(`/node_modules/${name}/`);
  return Object.entries(UNUSED_MODULES).some(isFor);
}

/** Runs after the minifier, which would remove the escapes. */
function finishChunk(output: OutputAsset | OutputChunk): void {
  // V8 holds a text in two bytes a character if one of them is not in Latin-1.
  if (output.type === 'chunk') output.code = loadOnFirstUse(readBuiltins(output)).replaceAll(/[^\x00-\x7f]/g, toEscape);
}

/**
 * Reads modules of Node without `import`, which would read all of their exports: some of these load other modules, such as a
 * line editor and archives, which take 2 MB.
 */
function readBuiltins({ code, moduleIds }: OutputChunk): string {
  // operation-counter.ts replaces functions that these packages have imported.
  if (moduleIds.some((id) => id.includes('/node_modules/chokidar/'))) return code;
  return code.replaceAll(
    /import(?:\*as )?\s*([\w$]+|\{[^}]*\})\s*from\s*"(node:[\w/]+)";/g,
    (_statement, names: string, name: string) =>
      `const ${names.replaceAll(' as ', ':')}=process.getBuiltinModule("${name}");`,
  );
}

/**
 * Runs CommonJS packages on first use instead of at the start: a manifest of the usual form needs no YAML parser, and one without
 * body schemas no ajv. `require_x` runs its module once.
 */
function loadOnFirstUse(code: string): string {
  return code
    .matchAll(/var (import_[\w$]+)=(require_[\w$]+)\(\);/g)
    .reduce(
      (text, [statement, name, load]) =>
        text
          .replace(statement, '')
          .replaceAll(
            new RegExp(String.raw`(?<![\w$])${name?.replaceAll('$', String.raw`\$`)}(?![\w$])`, 'g'),
            () => `(${load}())`,
          ),
      code,
    );
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
