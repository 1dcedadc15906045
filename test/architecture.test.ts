import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { countLines } from '../scripts/count-lines.ts';
import { DOORS } from './support/doors.ts';

const root = new URL('../', import.meta.url).pathname;

interface Import {
  readonly file: string;
  /** A path from the project's root, or the name of a package. */
  readonly target: string;
  /** The exports that the file uses; `*` for all of them. */
  readonly names: readonly string[];
  readonly isTypeOnly: boolean;
  /** True for `import('…')`, which loads the file on first use. */
  readonly isLazy: boolean;
}

const files = globSync('src/**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/'));
const imports = files.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const targetOf = (written: string) => (written.startsWith('.') ? normalize(join(dirname(file), written)) : written);
  const statements = text.matchAll(/^(?:import|export)\s+(type\s)?([^;'"]*?)\s*from '([^']+)';|^import '([^']+)';/gm);
  const lazy = text.matchAll(/(?:const (\{[^}]*\}) = await )?import\(\s*'(\.[^']+)'/g);
  return [
    ...[...statements].map(([, type, list = '', from, bare]) => {
      const names = namesIn(list);
      const isTypeOnly = type !== undefined || (names.length > 0 && names.every((name) => name.startsWith('type ')));
      return { file, target: targetOf(from ?? bare ?? ''), names: names.map(exportedName), isTypeOnly, isLazy: false };
    }),
    ...[...lazy].map(([, list, from = '']) => {
      const names = list === undefined ? ['*'] : namesIn(list).map(exportedName);
      return { file, target: targetOf(from), names, isTypeOnly: false, isLazy: true };
    }),
  ];
}

function namesIn(list: string): string[] {
  if (!list.includes('{')) return list === '' ? [] : ['*'];
  return list
    .replace(/[{}]/g, '')
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

function exportedName(written: string): string {
  return written.replace(/^type /, '').split(/ as |: /)[0] ?? '';
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
  cli: ['admin', 'check', 'editor', 'engine', 'openapi', 'process', 'prove', 'report', 'traffic'],
  index: ['check', 'engine', 'process', 'report'],
};

/** Beyond these doors, the engine cannot change without its users. */
const MAX_ENGINE_DOORS = 60;

/** One file for each foreign library. The sandbox, which is an example, has its own. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  '@scalar/openapi-upgrader': ['src/openapi/import/openapi-document.ts'],
  yaml: [
    ...['parse-tree', 'yaml-text', 'yaml-values'].map((name) => `src/engine/manifest/${name}.ts`),
    'src/openapi/import/write-routes.ts',
  ],
  'fastest-levenshtein': ['src/engine/problem/did-you-mean.ts'],
  ajv: ['scripts/generate.ts', 'src/engine/schema/added-keywords.ts', 'src/engine/schema/ajv-validator.ts'],
  re2js: ['src/engine/schema/ajv-validator.ts'],
  rou3: ['src/engine/routing/router.ts'],
  jose: ['src/engine/tokens/jwt.ts', 'src/cli/dev/token-issuer.ts'],
  'lru-cache': ['src/engine/tokens/caching-verifier.ts'],
  'http-proxy-3': ['src/engine/gateway/upstream/http-proxy.ts'],
  '@opentelemetry/api': ['src/process/telemetry/opentelemetry.ts'],
  pino: ['src/process/log/line-output.ts'],
  chokidar: ['src/process/reload/file-watcher.ts'],
  '@redis/client': ['src/engine/rate-limits/redis/redis-link.ts'],
  '@prometheus-io/client': ['src/admin/metrics/prometheus-renderer.ts'],
  'vscode-languageserver': ['code-actions', 'completion', 'connection', 'symbols', 'text-file'].map(
    (name) => `src/editor/${name}.ts`,
  ),
  'vscode-languageserver-textdocument': ['src/editor/connection.ts', 'src/editor/text-file.ts'],
  'csv-parse': ['src/engine/validation/csv-header.ts'],
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
    const rooms = ['plan', 'routing', 'schema', 'validation', 'tokens', 'settings', 'manifest', 'invariants'];
    // The ciphers of logged paths live in the log and not in the plan.
    const outside = imports.filter(
      ({ file, target }) =>
        room(file) === 'gateway' && rooms.includes(room(target)) && target !== 'src/engine/log/logged-path.ts',
    );
    expect(outside.filter(({ isTypeOnly }) => !isTypeOnly).map(({ file, target }) => `${file} -> ${target}`)).toEqual(
      [],
    );
    expect(outside.length).toBeGreaterThan(5);
  });

  it('have no cycles, not even of types', () => {
    expect(findCycle()).toEqual([]);
  });

  it('enter a wing only by its doors', () => {
    const crossing = imports.filter(({ file, target }) => target.startsWith('src/') && wing(file) !== wing(target));
    const used = Object.groupBy([...new Set(crossing.map(({ target }) => target))].sort(), wing);
    const doors = Object.entries(DOORS).map(([name, paths]) => [
      name,
      paths.map((path) => `src/${name}/${path}.ts`).sort(),
    ]);
    expect(used).toEqual(Object.fromEntries(doors));
    expect(DOORS['engine']?.length).toBeLessThanOrEqual(MAX_ENGINE_DOORS);
  });
});

/** Files that programs and threads start with, and that the package exports. */
const STARTS = [
  'src/index.ts',
  'src/cli/main.ts',
  'src/cli/health/container-health.ts',
  'src/cli/run/register-telemetry.ts',
  'src/admin/display-worker.ts',
  'src/admin/page/page.ts',
  'src/engine/validation/validation-worker.ts',
  'src/process/reload/file-worker.ts',
  'src/process/reload/manifest-worker.ts',
  'src/process/workers/worker.ts',
];

/** Types of results that no file imports, but the declarations of other files have to name. */
const NAMED_BY_DECLARATIONS: ReadonlySet<string> = new Set([
  'ConnectionLimitMemory',
  'OtherManifest',
  'Output',
  'RouteInterval',
  'TokenIssuer',
  'TrafficInterval',
  'WaitingMemory',
]);

describe('the files of src', () => {
  it('are each imported by another one, or start a program or a thread', () => {
    const imported = new Set(imports.filter(({ file, target }) => file !== target).map(({ target }) => target));
    expect(files.filter((file) => !imported.has(file) && !STARTS.includes(file))).toEqual([]);
  });

  it('export only what another file imports', () => {
    const others = globSync('{test,bench,scripts,examples,editors}/**/*.ts', { cwd: root }).flatMap(importsOf);
    const used = new Map<string, Set<string>>();
    for (const { target, names } of [...imports, ...others])
      used.set(target, new Set([...(used.get(target) ?? []), ...names]));
    const exported = /^export (?:async )?(?:abstract )?(?:function\*?|class|const|let|interface|type|enum) (\w+)/gm;
    const unused = files
      .filter((file) => !file.endsWith('.generated.ts') && used.get(file)?.has('*') !== true)
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(exported)]
          .filter(([, name = '']) => used.get(file)?.has(name) !== true && !NAMED_BY_DECLARATIONS.has(name))
          .map(([, name]) => `${file}: ${name}`),
      );
    expect(unused).toEqual([]);
  });

  it('have a README in each wing, of ten to thirty lines', () => {
    const wings = new Set(files.filter((file) => file.split('/').length > 2).map(wing));
    const lines = [...wings].map((name) => {
      const text = readFileSync(join(root, `src/${name}/README.md`), 'utf8');
      return [name, text.trimEnd().split('\n').length] as const;
    });
    expect(lines.filter(([, count]) => count < 10 || count > 30)).toEqual([]);
  });

  it.each(countLines().filter(({ budget }) => budget !== undefined))('fit in the line budget: $name', (wing) => {
    expect(wing.lines, 'scripts/line-budget.json').toBeLessThanOrEqual(wing.budget ?? 0);
  });
});

describe('the sandbox', () => {
  it('imports only the public door of the gateway', () => {
    const own = 'examples/platform/';
    const files = globSync(`${own}**/*.ts`, { cwd: root });
    const outside = files
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from |import\()'([^']+)'/g)].map(([, name = '']) =>
          name.startsWith('.') ? normalize(join(dirname(file), name)) : name,
        ),
      )
      .filter((target) => !target.startsWith(own) && !target.startsWith('node:'));
    expect([...new Set(outside)].sort()).toEqual(['csv-parse/sync', 'jose', 'src/index.ts']);
  });
});

describe('foreign libraries', () => {
  it('are imported only by the files that the table lists', () => {
    const foreign = imports.filter(({ target, isTypeOnly }) => !/^(?:src\/|node:)/.test(target) && !isTypeOnly);
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

const importing = (module: string, names: RegExp) =>
  files.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    const [, found = ''] = new RegExp(`^import (?!type)([^;]*?) from '${module}';`, 'm').exec(text) ?? [];
    return names.test(found);
  });

const containing = (text: string) => files.filter((file) => readFileSync(join(root, file), 'utf8').includes(text));

describe('connections to other servers', () => {
  it('are opened only by dial.ts, so that the resolver sees every host name, and by code that uses only addresses', () => {
    expect(importing('node:net', /\bconnect\b|\*/).sort()).toEqual([
      'src/cli/health/container-health.ts',
      'src/engine/gateway/server/socket-file.ts',
      'src/engine/http1/dial.ts',
      'src/prove/offline/warm-up.ts',
    ]);
    // These libraries are loaded on first use, so that a start without TLS or without a store does not load them.
    expect(importing('node:tls', /./)).toEqual([]);
    expect(importing('@redis/client', /./)).toEqual([]);
    expect(containing("require('node:tls')").sort()).toEqual([
      'src/engine/gateway/server/client-server.ts',
      'src/engine/http1/dial.ts',
      'src/engine/settings/tls.ts',
    ]);
    expect(containing('loadTls().connect')).toEqual(['src/engine/http1/dial.ts']);
    expect(importing('node:dns', /./)).toEqual(['src/engine/dns/dns-lookup.ts']);
    expect(importing('node:dns/promises', /./)).toEqual([]);
  });
});

describe('the private parts of Node', () => {
  it.each([
    '_handle',
    '._header',
    '_httpMessage',
    '_parent',
    '_events',
    'destroySoon',
    'getOwnPropertySymbols',
    'kBuffer',
    "listeners('data')",
    "listeners('end')",
    'readStop',
    'useUserBuffer',
    '._write',
    'syncBuiltinESMExports',
    'deleteProperty(http',
  ])('%s is used only in the folder that asserts it', (name) => {
    expect(containing(name).filter((file) => !file.startsWith('src/engine/node-internals/'))).toEqual([]);
  });

  it('do not serve clients: the gateway imports no HTTP server of Node', () => {
    const inEngine = importing('node:http', /./).filter((file) => file.startsWith('src/engine/'));
    expect(inEngine).toEqual([]);
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
        !file.startsWith('src/engine/node-internals/') &&
        file !== 'src/engine/shared-memory/worker-context.ts' &&
        /\bprocess(?:\.(?!nextTick)\w|\[)/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
    // An import of the module reads all its exports. One of them is the standard input, which then no longer blocks a reader.
    // Some of those of `node:http` load a WebSocket client.
    expect(imports.filter(({ target, isTypeOnly }) => /^node:(?:process|http)$/.test(target) && !isTypeOnly)).toEqual(
      [],
    );
  });

  it('handles signals before it imports the rest of the project', () => {
    const early = imports.filter(
      ({ file, target, isTypeOnly, isLazy }) =>
        file === 'src/cli/main.ts' && target.startsWith('src/') && !isTypeOnly && !isLazy,
    );
    expect(early).toEqual([]);
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
  for (const { file, target, isLazy } of imports) if (!isLazy) edges.set(file, [...(edges.get(file) ?? []), target]);
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
