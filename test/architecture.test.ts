import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { describe, expect, it } from 'vitest';

const root = new URL('../', import.meta.url).pathname;

interface Import {
  readonly file: string;
  /** A path from the project's root, or the name of a package. */
  readonly target: string;
  readonly isTypeOnly: boolean;
}

const files = globSync('src/**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
const imports = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?([^;]*?)from '([^']+)';|^import '([^']+)';/gm);
  return [...statements].map(([, type, names = '', from, bare]) => {
    const written = from ?? bare ?? '';
    const target = written.startsWith('.') ? normalize(join(dirname(file), written)) : written;
    const named = names
      .replace(/[{}]/g, '')
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean);
    return {
      file,
      target,
      isTypeOnly: type !== undefined || (names.includes('{') && named.every((name) => name.startsWith('type '))),
    };
  });
}

/** The wing of a file: the folder under src, or the file itself. */
function wing(path: string): string {
  const [, first = '', rest] = path.split('/');
  return rest === undefined ? first.replace(/\.ts$/, '') : first;
}

/** The room of a file of the engine: the folder under src/engine, or the file itself. */
function room(path: string): string {
  const [, , first = '', second = '', rest] = path.split('/');
  if (second === '') return first.replace(/\.ts$/, '');
  return rest !== undefined && ['circuit-breaker', 'fairness'].includes(second) ? second : first;
}

/** The wings of src, and those that each of them may import. */
const WINGS: Readonly<Record<string, readonly string[]>> = {
  engine: [],
  report: ['engine'],
  check: ['engine', 'report'],
  prove: ['check', 'engine', 'report'],
  traffic: ['check', 'engine', 'prove', 'report'],
  openapi: ['check', 'engine', 'prove', 'report', 'traffic'],
  process: ['check', 'engine', 'prove', 'report', 'traffic'],
  editor: ['check', 'engine', 'openapi', 'process', 'prove', 'report', 'traffic'],
  admin: ['check', 'engine', 'openapi', 'process', 'prove', 'report', 'traffic'],
  cli: ['admin', 'check', 'editor', 'engine', 'openapi', 'process', 'prove', 'report', 'sandbox', 'traffic'],
  sandbox: [],
  index: ['check', 'engine', 'report'],
};

/** One file for each foreign library; the sandbox has its own. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  '@scalar/openapi-upgrader': ['src/openapi/import/openapi-document.ts'],
  yaml: [
    ...['parse-tree', 'yaml-tokens', 'yaml-tree', 'yaml-values'].map((name) => `src/engine/manifest/${name}.ts`),
    'src/openapi/import/route-file.ts',
    'src/openapi/import/write-routes.ts',
  ],
  'fastest-levenshtein': ['src/engine/problem/did-you-mean.ts'],
  ajv: [
    'src/engine/manifest/check.ts',
    'scripts/generate.ts',
    'src/engine/schema/added-keywords.ts',
    'src/engine/schema/ajv-validator.ts',
    'src/engine/schema/long-keywords.ts',
    'src/engine/schema/prefix-items.ts',
    'src/engine/schema/unevaluated-items.ts',
  ],
  re2js: ['src/engine/schema/ajv-validator.ts'],
  rou3: ['src/engine/routing/router.ts'],
  jose: ['src/engine/tokens/signature.ts', 'src/sandbox/token-issuer.ts', 'src/sandbox/tokens.ts'],
  'lru-cache': ['src/engine/tokens/caching-verifier.ts'],
  'http-proxy-3': ['src/engine/gateway/upstream/http-proxy.ts'],
  '@opentelemetry/api': ['src/engine/gateway/telemetry/opentelemetry.ts'],
  pino: ['src/engine/log/log.ts'],
  chokidar: ['src/process/reload/file-watcher.ts'],
  '@redis/client': ['src/engine/rate-limits/redis/redis-link.ts'],
  '@prometheus-io/client': ['src/admin/metrics/prometheus-renderer.ts'],
  'vscode-languageserver': ['code-actions', 'completion', 'connection', 'diagnostics', 'symbols'].map(
    (name) => `src/editor/${name}.ts`,
  ),
  'vscode-languageserver-textdocument': ['src/editor/connection.ts', 'src/editor/text-file.ts'],
  'csv-parse': ['src/engine/validation/csv-header.ts', 'src/sandbox/platform/contacts-import.ts'],
};

describe('imports between the folders of src', () => {
  it('go in one direction', () => {
    const crossings = imports.filter(({ target }) => target.startsWith('src/'));
    const wrong = crossings.filter(
      ({ file, target }) => wing(file) !== wing(target) && !WINGS[wing(file)]?.includes(wing(target)),
    );
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
    expect([...new Set(files.map(wing))].sort()).toEqual(Object.keys(WINGS).sort());
  });

  it('bring only types of the plan into the request path', () => {
    const rooms = ['plan', 'routing', 'schema', 'validation', 'tokens', 'settings', 'log', 'manifest', 'invariants'];
    const outside = imports.filter(({ file, target }) => room(file) === 'gateway' && rooms.includes(room(target)));
    expect(outside.filter(({ isTypeOnly }) => !isTypeOnly).map(({ file, target }) => `${file} -> ${target}`)).toEqual(
      [],
    );
    expect(outside.length).toBeGreaterThan(5);
  });

  it('have no cycles', () => {
    const cycle = findCycle();
    expect(cycle).toEqual([]);
  });
});

describe('foreign libraries', () => {
  it('are imported only by the files that the table lists', () => {
    const foreign = imports.filter(
      ({ target, isTypeOnly }) => !target.startsWith('src/') && !target.startsWith('node:') && !isTypeOnly,
    );
    const wrong = foreign.filter(({ file, target }) => !LIBRARIES[packageOf(target)]?.includes(file));
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  });

  it('are the dependencies of package.json, pinned exactly', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const used = new Set(imports.map(({ target }) => packageOf(target)));
    expect(Object.keys(dependencies).filter((name) => !used.has(name))).toEqual([]);
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d/.test(String(version)),
    );
    expect(loose).toEqual([]);
  });
});

describe('connections to other servers', () => {
  const importing = (module: string, names: RegExp) =>
    files.filter((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      const [, found = ''] = new RegExp(`^import (?!type)([^;]*?) from '${module}';`, 'm').exec(text) ?? [];
      return names.test(found);
    });

  const containing = (text: string) => files.filter((file) => readFileSync(join(root, file), 'utf8').includes(text));

  it('are opened only by dial.ts, so that the resolver sees every host name, and by code that uses only addresses', () => {
    expect(importing('node:net', /\bconnect\b|\*/).sort()).toEqual([
      'src/cli/health/container-health.ts',
      'src/engine/http1/dial.ts',
      'src/prove/offline/warm-up.ts',
    ]);
    // These libraries are loaded on first use, so that a start without TLS or without a store does not load them.
    expect(importing('node:tls', /./)).toEqual([]);
    expect(importing('@redis/client', /./)).toEqual([]);
    expect(containing("require('node:tls')").sort()).toEqual([
      'src/engine/http1/dial.ts',
      'src/engine/settings/tls.ts',
    ]);
    expect(containing('loadTls().connect')).toEqual(['src/engine/http1/dial.ts']);
    expect(importing('node:dns', /./)).toEqual(['src/engine/dns/lookup-slots.ts']);
    expect(importing('node:dns/promises', /./)).toEqual([]);
  });
});

describe('the process', () => {
  it('is used only by the programs, and by a thread that hides the environment from a library', () => {
    const wrong = files.filter(
      (file) =>
        file !== 'src/cli/main.ts' &&
        file !== 'src/cli/health/container-health.ts' &&
        file !== 'src/cli/run/register-telemetry.ts' &&
        file !== 'src/process/reload/manifest-worker.ts' &&
        file !== 'src/process/lean-http.ts' &&
        file !== 'src/engine/shared-memory/shared-clock.ts' &&
        /\bprocess(?:\.(?!nextTick)\w|\[)/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
    // An import of the module reads all its exports. One of them is the standard input, which then no longer blocks a reader.
    expect(imports.filter(({ target, isTypeOnly }) => target === 'node:process' && !isTypeOnly)).toEqual([]);
  });
});

function packageOf(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

function findCycle(): string[] {
  const edges = new Map<string, string[]>();
  for (const { file, target, isTypeOnly } of imports)
    if (!isTypeOnly) edges.set(file, [...(edges.get(file) ?? []), target]);
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string[] => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return [];
    const cycle = (edges.get(file) ?? []).map((next) => visit(next, [...trail, file])).find(({ length }) => length > 0);
    done.add(file);
    return cycle ?? [];
  };
  return files.map((file) => visit(file, [])).find(({ length }) => length > 0) ?? [];
}
