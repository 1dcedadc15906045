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

/** The room of a file: the folder under src, or the file itself. */
function room(path: string): string {
  const [, first = '', rest] = path.split('/');
  return rest === undefined ? first.replace(/\.ts$/, '') : first;
}

/** The folders and top-level files of src that each of them may import, in the direction of the data flow. */
const ALLOWED_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  problem: [],
  'json-pointer': [],
  'header-names': [],
  'http-methods': [],
  'raw-headers': [],
  'lean-http': [],
  log: [],
  loopback: [],
  'shared-memory': [],
  'circuit-breaker': ['shared-memory'],
  fairness: [],
  dns: ['loopback'],
  http1: ['dns', 'http-methods', 'raw-headers', 'shared-memory'],
  manifest: ['json-pointer', 'loopback', 'problem'],
  plan: [
    'circuit-breaker',
    'fairness',
    'header-names',
    'http1',
    'http-methods',
    'json-pointer',
    'loopback',
    'manifest',
    'problem',
    'raw-headers',
    'shared-memory',
  ],
  lint: ['http1', 'http-methods', 'invariants', 'json-pointer', 'loopback', 'manifest', 'plan', 'problem'],
  invariants: ['http-methods', 'manifest', 'plan', 'problem'],
  load: ['invariants', 'manifest', 'plan', 'problem'],
  gateway: [
    'circuit-breaker',
    'dns',
    'fairness',
    'header-names',
    'http1',
    'http-methods',
    'json-pointer',
    'log',
    'plan',
    'raw-headers',
    'shared-memory',
  ],
  workers: [
    'candidate',
    'gateway',
    'lean-http',
    'load',
    'log',
    'manifest',
    'offline',
    'plan',
    'problem',
    'shared-memory',
  ],
  'openapi-import': ['http-methods', 'load', 'manifest', 'plan', 'problem'],
  offline: ['gateway', 'json-pointer', 'load', 'log', 'manifest', 'plan', 'problem'],
  explain: ['gateway', 'http-methods', 'invariants', 'json-pointer', 'load', 'manifest', 'offline', 'plan', 'problem'],
  'schema-comparison': ['manifest', 'plan', 'problem'],
  testing: [
    'gateway',
    'http-methods',
    'invariants',
    'json-pointer',
    'load',
    'manifest',
    'offline',
    'plan',
    'problem',
    'schema-comparison',
  ],
  diff: [
    'gateway',
    'header-names',
    'http-methods',
    'invariants',
    'json-pointer',
    'load',
    'loopback',
    'manifest',
    'plan',
    'problem',
    'schema-comparison',
  ],
  openapi: ['gateway', 'http-methods', 'load', 'manifest', 'plan', 'problem'],
  candidate: [
    'explain',
    'fairness',
    'gateway',
    'header-names',
    'http-methods',
    'json-pointer',
    'lint',
    'load',
    'log',
    'manifest',
    'offline',
    'plan',
    'problem',
    'raw-headers',
    'schema-comparison',
    'shared-memory',
    'testing',
  ],
  reload: ['candidate', 'gateway', 'load', 'manifest', 'plan', 'problem', 'testing'],
  admin: [
    'candidate',
    'dns',
    'explain',
    'fairness',
    'gateway',
    'http-methods',
    'load',
    'log',
    'loopback',
    'manifest',
    'offline',
    'openapi',
    'plan',
    'problem',
    'reload',
    'workers',
  ],
  sandbox: [],
  'language-server': ['http-methods', 'invariants', 'lint', 'load', 'manifest', 'plan', 'problem', 'reload', 'testing'],
  cli: [
    'admin',
    'candidate',
    'diff',
    'explain',
    'gateway',
    'http-methods',
    'lean-http',
    'lint',
    'invariants',
    'language-server',
    'load',
    'log',
    'loopback',
    'manifest',
    'offline',
    'openapi',
    'openapi-import',
    'plan',
    'problem',
    'reload',
    'sandbox',
    'shared-memory',
    'testing',
    'workers',
  ],
  index: ['gateway', 'lint', 'load', 'log', 'manifest', 'plan', 'problem'],
};

/** One file for each foreign library; the sandbox has its own. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  '@scalar/openapi-upgrader': ['src/openapi-import/openapi-document.ts'],
  yaml: [
    ...['parse-tree', 'yaml-tokens', 'yaml-tree', 'yaml-values'].map((name) => `src/manifest/${name}.ts`),
    'src/openapi-import/route-file.ts',
    'src/openapi-import/write-routes.ts',
  ],
  'fastest-levenshtein': ['src/problem/did-you-mean.ts'],
  ajv: [
    'src/manifest/check.ts',
    'scripts/generate.ts',
    'src/plan/schema/added-keywords.ts',
    'src/plan/schema/ajv-validator.ts',
    'src/plan/schema/long-keywords.ts',
    'src/plan/schema/prefix-items.ts',
    'src/plan/schema/unevaluated-items.ts',
  ],
  re2js: ['src/plan/schema/ajv-validator.ts'],
  rou3: ['src/plan/routing/router.ts'],
  jose: ['src/plan/tokens/signature.ts', 'src/sandbox/token-issuer.ts', 'src/sandbox/tokens.ts'],
  'lru-cache': ['src/plan/tokens/caching-verifier.ts'],
  'http-proxy-3': ['src/gateway/upstream/http-proxy.ts'],
  '@opentelemetry/api': ['src/gateway/telemetry/opentelemetry.ts'],
  pino: ['src/log/log.ts'],
  chokidar: ['src/reload/file-watcher.ts'],
  '@redis/client': ['src/gateway/rate-limits/redis/redis-link.ts'],
  '@prometheus-io/client': ['src/admin/metrics/prometheus-renderer.ts'],
  'vscode-languageserver': ['code-actions', 'completion', 'connection', 'diagnostics', 'symbols'].map(
    (name) => `src/language-server/${name}.ts`,
  ),
  'vscode-languageserver-textdocument': ['src/language-server/connection.ts', 'src/language-server/text-file.ts'],
  'csv-parse': ['src/plan/body/csv-header.ts', 'src/sandbox/platform/contacts-import.ts'],
};

describe('imports between the folders of src', () => {
  it('go in one direction', () => {
    const crossings = imports.filter(({ target }) => target.startsWith('src/'));
    const wrong = crossings.filter(
      ({ file, target }) => room(file) !== room(target) && !ALLOWED_IMPORTS[room(file)]?.includes(room(target)),
    );
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
    expect([...new Set(files.map(room))].sort()).toEqual(Object.keys(ALLOWED_IMPORTS).sort());
  });

  it('bring only types of the plan and of the log into the request path', () => {
    const leaves = [
      'circuit-breaker',
      'dns',
      'fairness',
      'gateway',
      'header-names',
      'http-methods',
      'http1',
      'json-pointer',
      'raw-headers',
      'shared-memory',
    ];
    const outside = imports.filter(
      ({ file, target }) => room(file) === 'gateway' && target.startsWith('src/') && !leaves.includes(room(target)),
    );
    const wrong = outside.filter(({ target, isTypeOnly }) => !isTypeOnly || !['plan', 'log'].includes(room(target)));
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
    expect(outside.length).toBeGreaterThan(5);
  });

  it('give lint rules the types of the plan, its routing and its keyword table, and nothing else', () => {
    const crossings = imports.filter(({ file, target }) => room(file) === 'lint' && room(target) === 'plan');
    const isOpen = (target: string) =>
      target.startsWith('src/plan/routing/') || target === 'src/plan/schema/keywords.ts';
    const wrong = crossings.filter(({ target, isTypeOnly }) => !isTypeOnly && !isOpen(target));
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
    expect(crossings.length).toBeGreaterThan(5);
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
      'src/http1/dial.ts',
      'src/offline/warm-up.ts',
    ]);
    // These libraries are loaded on first use, so that a start without TLS or without a store does not load them.
    expect(importing('node:tls', /./)).toEqual([]);
    expect(importing('@redis/client', /./)).toEqual([]);
    expect(containing("require('node:tls')").sort()).toEqual(['src/http1/dial.ts', 'src/plan/settings/tls.ts']);
    expect(containing('loadTls().connect')).toEqual(['src/http1/dial.ts']);
    expect(importing('node:dns', /./)).toEqual(['src/dns/lookup-slots.ts']);
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
        file !== 'src/reload/manifest-worker.ts' &&
        file !== 'src/lean-http.ts' &&
        file !== 'src/shared-memory/shared-clock.ts' &&
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
