import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { expandGlob, globFolders } from '../../src/engine/manifest/dependencies.ts';
import type { Environment } from '../../src/engine/manifest/source.ts';

const MAIN = `version: 1
include: INCLUDE
upstreams:
  up: { url: http://127.0.0.1:1 }
`;
const route = (id: string, upstream = 'up') =>
  `routes:\n  - { id: ${id}, method: GET, path: /${id}, upstream: ${upstream}, access: public }\n`;

/** A folder in memory: the text of each file, by its path. */
function worldWith(files: Readonly<Record<string, string>>): Environment {
  return {
    env: { PORT: '7' },
    readFile(path) {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
      return text;
    },
    listFolder(folder) {
      const start = folder === '' ? '' : `${folder}/`;
      const inside = Object.keys(files).filter((path) => path.startsWith(start));
      if (inside.length === 0) throw Object.assign(new Error(folder), { code: 'ENOENT' });
      return [...new Set(inside.map((path) => path.slice(start.length).split('/')[0] ?? ''))];
    },
  };
}

function loadWith(include: string, files: Readonly<Record<string, string>>, main = MAIN) {
  return load({ path: 'deploy/gateway.yaml', text: main.replace('INCLUDE', include) }, worldWith(files));
}

const formattedProblems = (loaded: ReturnType<typeof loadWith>) =>
  loaded.problems.map(({ file, range, message }) => `${file}:${range.line}:${range.column} ${message}`);

describe('an included file', () => {
  it('extends the lists and maps of the manifest', () => {
    const { plan } = loadWith('[routes/*.yaml, other.yaml]', {
      'other.yaml': 'upstreams:\n  two: { url: "http://127.0.0.1:${PORT}" }\nschemas: { Name: { type: string } }\n',
      'routes/b.yaml': route('b', 'two'),
      'routes/a.yaml': route('a'),
      'routes/.a.yaml.swp': 'not: [',
      'routes/a.yaml~': 'not: [',
    });
    expect(plan?.routes.map(({ id, upstream }) => [id, upstream?.id])).toEqual([
      ['a', 'up'],
      ['b', 'two'],
    ]);
    expect(plan?.upstreams.map(({ endpoints }) => endpoints[0]?.url.port)).toEqual(['1', '7']);
  });

  it('appears in problems and sources with the folder of the manifest', () => {
    const loaded = loadWith('routes/*.yaml', { 'routes/a.yaml': route('a'), 'routes/b.yaml': route('b', 'upp') });
    expect(formattedProblems(loaded)).toEqual([
      'deploy/routes/b.yaml:2:47 no upstream is named "upp"; did you mean "up"?',
    ]);
    expect(loaded.sources.map(({ path }) => path)).toEqual([
      'deploy/gateway.yaml',
      'deploy/routes/a.yaml',
      'deploy/routes/b.yaml',
    ]);
  });

  it('has problems that point to both of two equal routes', () => {
    const loaded = loadWith('routes/*.yaml', { 'routes/a.yaml': route('a'), 'routes/b.yaml': route('a') });
    expect(loaded.problems.map(({ file, related }) => [file, related?.file])).toEqual([
      ['deploy/routes/b.yaml', 'deploy/routes/a.yaml'],
      ['deploy/routes/b.yaml', 'deploy/routes/a.yaml'],
    ]);
  });

  it('has problems without values from the environment', () => {
    const loaded = loadWith('a.yaml', { 'a.yaml': `${route('a')}upstreams:\n  two: { url: 'x\${PORT}' }\n` });
    expect(formattedProblems(loaded).join()).toContain('the value from the environment');
  });

  it('is read once if two patterns match it', () => {
    const { plan } = loadWith('[routes/a.yaml, routes/*.yaml]', {
      'routes/a.yaml': route('a'),
      'routes/b.yaml': route('b'),
    });
    expect(plan?.routes.map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('changes the hash of the manifest', () => {
    const hashOf = (text: string) => loadWith('a.yaml', { 'a.yaml': text }).plan?.hash;
    expect(hashOf(route('a'))).toBe(hashOf(route('a')));
    expect(hashOf(route('a'))).not.toBe(hashOf(route('b')));
  });

  it.each(['/etc/a.yaml', '../a.yaml', 'a/../../b.yaml', "'${PORT}.yaml'", 'a\\b.yaml'])('cannot be %s', (pattern) => {
    const loaded = loadWith(pattern, { 'a.yaml': route('a') });
    expect(loaded.problems.map(({ rule }) => rule)).toEqual(['include']);
    expect(loaded.files.size).toBe(0);
  });

  it('is a dependency, like the matches of its pattern', () => {
    const { files, globs } = loadWith('routes/*.yaml', { 'routes/a.yaml': route('a') });
    expect([...files.keys()]).toEqual(['routes/a.yaml']);
    expect([...globs]).toEqual([['routes/*.yaml', 'routes/a.yaml']]);
  });
});

describe('an include that cannot work', () => {
  it('has a problem if the manifest includes itself', () => {
    const files = { 'gateway.yaml': '', 'one.yaml': route('one') };
    const problems = ['2:10 a manifest cannot include itself; include other files only'];
    expect(formattedProblems(loadWith('"*.yaml"', files))).toEqual(
      problems.map((text) => `deploy/gateway.yaml:${text}`),
    );
  });

  it('has a problem with the meant key, which is not sent to the manifest', () => {
    const files = { 'one.yaml': route('one').replace('routes', 'routs') };
    expect(formattedProblems(loadWith('one.yaml', files))).toContain(
      'deploy/one.yaml:1:1 unknown key "routs"; did you mean "routes"?',
    );
  });

  it.each([
    ['ENAMETOOLONG', 'its name is longer than the file system allows; write a shorter path'],
    ['ELOOP', 'its symbolic links form a circle; correct the links'],
    ['ERR_INVALID_ARG_VALUE', 'no path has a NUL character; remove the character'],
  ])('has a problem without the code %s', (code, reason) => {
    const readFile = () => {
      throw Object.assign(new Error(code), { code });
    };
    const { problems } = load({ path: 'gateway.yaml', text: MAIN.replace('INCLUDE', 'a.yaml') }, { env: {}, readFile });
    expect(problems.map(({ message }) => message)).toContain(`the file "a.yaml" cannot be read: ${reason}`);
  });
});

describe('a pattern matches', () => {
  const world = worldWith({ 'a/x.yaml': '', 'a/y.yml': '', 'b/x.yaml': '', 'b[1].yaml': '', 'b.yaml': '' });
  it.each([
    ['*/x.yaml', ['a/x.yaml', 'b/x.yaml']],
    ['a/*', ['a/x.yaml', 'a/y.yml']],
    ['./a/?.yaml', ['a/x.yaml']],
    ['*/y.yml', ['a/y.yml']],
    ['b[1].*', ['b[1].yaml']],
    ['b?yaml', ['b.yaml']],
    ['c/*.yaml', []],
    ['c/d.yaml', ['c/d.yaml']],
  ])('%s', (pattern, expected) => {
    expect(expandGlob(pattern, world)).toEqual(expected);
  });

  it('only files of its folders', () => {
    expect(globFolders('*/*.yaml', world)).toEqual(['', 'a', 'b', 'b.yaml', 'b[1].yaml']);
    expect(globFolders('a/x.yaml', world)).toEqual([]);
  });
});
