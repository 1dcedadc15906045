import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectSection } from '../support/section.ts';

const ROOT = new URL('../../', import.meta.url);
const readJson = (path: string) => JSON.parse(readFileSync(new URL(path, ROOT), 'utf8'));

/** The purpose of each dependency, why it was taken, and what it opens by itself. */
const REASONS: Readonly<Record<string, readonly [purpose: string, reason: string, reach: string]>> = {
  '@opentelemetry/api': [
    'spans, if the operator loads an SDK',
    'the interface that all SDKs implement; does nothing without one',
    'nothing',
  ],
  '@prometheus-io/client': [
    'the text of `/metrics`',
    'the client of the Prometheus project',
    'nothing; loaded for the admin API',
  ],
  '@redis/client': [
    'shared rate limits',
    'Sentinel, Cluster and TLS as operators have them',
    'network: the servers in `stores`; loaded if there are any',
  ],
  '@scalar/openapi-upgrader': [
    '`import`, `drift`: OpenAPI 2.0 and 3.0 as 3.1',
    'follows the versions of the specification',
    'nothing; does not serve',
  ],
  ajv: ['JSON Schema 2020-12', 'named by the owner; compiles schemas to functions', 'nothing'],
  chokidar: [
    'file events',
    'named by the owner; hides the differences of systems',
    'files: those of the manifest, in a thread of its own',
  ],
  'csv-parse': ['CSV bodies', 'a streaming parser of RFC 4180', 'nothing; loaded for routes with `csv`'],
  'fastest-levenshtein': ['"did you mean"', 'one function', 'nothing'],
  'http-proxy-3': [
    'passes a request from the gateway to its upstream',
    'named by the owner',
    'nothing: the gateway gives it its own connections',
  ],
  jose: [
    'JWTs and key sets',
    "the reference for JOSE in JavaScript, on Node's cryptography",
    'nothing: the gateway gets the keys itself',
  ],
  'lru-cache': ['the cache of verified tokens', 'bounded, with a time for each entry', 'nothing'],
  pino: ['the lines of the log', 'named by the owner', 'the standard output'],
  re2js: ['`pattern` in schemas', 'matches in linear time what V8 does not', 'nothing; loaded for such patterns'],
  rou3: ['finds the route of a path', 'a small tree for literal and named segments', 'nothing'],
  'vscode-languageserver': [
    '`lsp`',
    'the reference for the Language Server Protocol',
    'standard input and output; does not serve',
  ],
  'vscode-languageserver-textdocument': [
    '`lsp`: edits of open files',
    'a part of the same project',
    'nothing; does not serve',
  ],
  yaml: ['manifests with positions and comments', 'named by the owner', 'nothing'],
};

/** Returns the packages that a package needs in turn, by the lock file. */
function neededBy(name: string, packages: Readonly<Record<string, { dependencies?: object }>>): string[] {
  const found = new Set<string>();
  const add = (parent: string) => {
    for (const child of Object.keys(packages[`node_modules/${parent}`]?.dependencies ?? {})) {
      if (found.has(child)) continue;
      found.add(child);
      add(child);
    }
  };
  add(name);
  return [...found].sort();
}

describe('docs/dependencies.md', () => {
  it('lists every production dependency with its purpose, and those that it needs', () => {
    const { dependencies } = readJson('package.json');
    const { packages } = readJson('package-lock.json');
    expect(Object.keys(REASONS)).toEqual(Object.keys(dependencies));
    const rows = Object.entries(REASONS).map(([name, [purpose, reason, reach]]) => {
      const needed = neededBy(name, packages).map((other) => `\`${other}\``);
      return `| \`${name}\` ${dependencies[name]} | ${purpose} | ${reason} | ${reach} | ${needed.join(', ')} |`;
    });
    const table = ['| package | does | taken because | opens by itself | needs |', '|---|---|---|---|---|', ...rows];
    expectSection('docs/dependencies.md', 'dependencies', `${table.join('\n')}\n`);
  });

  it('lists no dependency with an install script', () => {
    const { packages } = readJson('package-lock.json') as { packages: Record<string, Record<string, unknown>> };
    const scripts = Object.entries(packages).filter(
      ([, entry]) => entry['hasInstallScript'] === true && entry['dev'] !== true,
    );
    expect(scripts.map(([path]) => path)).toEqual([]);
  });

  it('lists only packages that the source imports', () => {
    const sources = globSync('src/**/*.ts', { cwd: ROOT }).map((file) => readFileSync(new URL(file, ROOT), 'utf8'));
    const unused = Object.keys(REASONS).filter(
      (name) => !sources.some((text) => text.includes(`'${name}'`) || text.includes(`'${name}/`)),
    );
    expect(unused).toEqual([]);
  });
});
