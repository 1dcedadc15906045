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

/** Whom each room may import; the order is the direction in which data flows. */
const DOORS: Readonly<Record<string, readonly string[]>> = {
  problem: [],
  manifest: ['problem'],
  lint: ['http1', 'manifest', 'plan', 'problem'],
  plan: ['fairness', 'field-names', 'http1', 'manifest', 'problem'],
  dns: [],
  http1: ['dns'],
  fairness: [],
  'field-names': [],
  gateway: ['dns', 'fairness', 'field-names', 'http1', 'log', 'plan'],
  log: [],
  load: ['manifest', 'plan', 'problem'],
  offline: ['gateway', 'log', 'manifest', 'plan'],
  explain: ['gateway', 'load', 'manifest', 'offline', 'plan', 'problem'],
  suite: ['gateway', 'load', 'manifest', 'offline', 'plan', 'problem'],
  diff: ['gateway', 'load', 'manifest', 'plan', 'problem'],
  watch: [],
  world: ['manifest'],
  reload: ['gateway', 'load', 'manifest', 'plan', 'problem', 'suite', 'watch', 'world'],
  admin: ['dns', 'explain', 'fairness', 'gateway', 'load', 'log', 'manifest', 'offline', 'plan', 'problem', 'reload'],
  sandbox: [],
  cli: [
    'admin',
    'diff',
    'explain',
    'gateway',
    'lint',
    'load',
    'log',
    'manifest',
    'offline',
    'plan',
    'problem',
    'reload',
    'sandbox',
    'suite',
    'watch',
    'world',
  ],
  build: [],
  index: ['gateway', 'lint', 'load', 'log', 'manifest', 'plan', 'problem'],
};

/** One file for each foreign library; the sandbox has its own. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  yaml: ['document', 'tokens', 'tree', 'values'].map((name) => `src/manifest/${name}.ts`),
  'fastest-levenshtein': ['src/problem/did-you-mean.ts'],
  ajv: ['src/manifest/check.ts', 'src/manifest/generate.ts', 'src/plan/added-keywords.ts', 'src/plan/validator.ts'],
  'ajv-formats': ['src/plan/validator.ts'],
  re2js: ['src/plan/validator.ts'],
  rou3: ['src/plan/router.ts'],
  jose: ['src/plan/tokens/signature.ts', 'src/sandbox/tokens.ts'],
  'lru-cache': ['src/plan/tokens/verifier.ts'],
  'http-proxy-3': ['src/gateway/forward.ts'],
  '@opentelemetry/api': ['src/gateway/spans.ts'],
  pino: ['src/log.ts'],
  chokidar: ['src/watch.ts'],
  '@prometheus-io/client': ['src/admin/exposition.ts'],
  'csv-parse': ['src/plan/csv-header.ts', 'src/sandbox/platform/contacts-import.ts'],
  'json-schema-to-typescript': ['src/manifest/generate.ts'],
  rolldown: ['src/build.ts'],
};

describe('the doors between the rooms', () => {
  it('lead one way', () => {
    const crossings = imports.filter(({ target }) => target.startsWith('src/'));
    const wrong = crossings.filter(
      ({ file, target }) => room(file) !== room(target) && !DOORS[room(file)]?.includes(room(target)),
    );
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
    expect([...new Set(files.map(room))].sort()).toEqual(Object.keys(DOORS).sort());
  });

  it('let only the types of plan.ts and of the log into the hot path', () => {
    const outside = imports.filter(
      ({ file, target }) =>
        room(file) === 'gateway' &&
        target.startsWith('src/') &&
        !['dns', 'fairness', 'field-names', 'gateway', 'http1'].includes(room(target)),
    );
    const wrong = outside.filter(
      ({ target, isTypeOnly }) => !isTypeOnly || !['src/plan/plan.ts', 'src/log.ts'].includes(target),
    );
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
    expect(outside.length).toBeGreaterThan(5);
  });

  it('let the rules know the types of the plan, patterns, paths and the router, and no more of it', () => {
    const known = ['plan', 'path-readings', 'pattern', 'pattern-sets', 'router', 'sample-paths'].map(
      (name) => `src/plan/${name}.ts`,
    );
    const crossings = imports.filter(({ file, target }) => room(file) === 'lint' && room(target) === 'plan');
    const wrong = crossings.filter(
      ({ target, isTypeOnly }) => !known.includes(target) || (target === known[0] && !isTypeOnly),
    );
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
    expect(crossings.length).toBeGreaterThan(5);
  });

  it('have no circles', () => {
    const circle = findCircle();
    expect(circle).toEqual([]);
  });
});

describe('foreign libraries', () => {
  it('are each known to one file', () => {
    const foreign = imports.filter(
      ({ target, isTypeOnly }) => !target.startsWith('src/') && !target.startsWith('node:') && !isTypeOnly,
    );
    const wrong = foreign.filter(({ file, target }) => !LIBRARIES[packageOf(target)]?.includes(file));
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
  });

  it('are those of package.json, pinned exactly', () => {
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

  it('are opened by the dial alone, so that every host name goes through the resolver', () => {
    expect(importing('node:net', /\bconnect\b|\*/)).toEqual(['src/http1/dial.ts']);
    expect(importing('node:tls', /\bconnect\b|\*/)).toEqual(['src/http1/dial.ts']);
    expect(importing('node:dns', /./)).toEqual(['src/dns/places.ts']);
    expect(importing('node:dns/promises', /./)).toEqual([]);
  });
});

describe('the process', () => {
  it('is touched by cli/main.ts alone, and by a thread that hides the environment from a library', () => {
    const wrong = files.filter(
      (file) =>
        file !== 'src/cli/main.ts' &&
        file !== 'src/reload/reading-worker.ts' &&
        file !== 'src/manifest/generate.ts' &&
        /\bprocess(?:\.(?!nextTick)\w|\[)/.test(readFileSync(join(root, file), 'utf8')),
    );
    expect(wrong).toEqual([]);
  });
});

function packageOf(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

function findCircle(): string[] {
  const edges = new Map<string, string[]>();
  for (const { file, target, isTypeOnly } of imports)
    if (!isTypeOnly) edges.set(file, [...(edges.get(file) ?? []), target]);
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string[] => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return [];
    const circle = (edges.get(file) ?? [])
      .map((next) => visit(next, [...trail, file]))
      .find(({ length }) => length > 0);
    done.add(file);
    return circle ?? [];
  };
  return files.map((file) => visit(file, [])).find(({ length }) => length > 0) ?? [];
}
