import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';

const MAIN = `version: 1
upstreams: { up: { url: http://127.0.0.1:1 } }
INVARIANTS
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public }
`;
const RULES = `invariants:
  - id: private
    require: { access: protected }
`;
const HIDDEN = 'invariants:\n  - { id: hidden, when: { path: /one }, require: { served: false } }\n';

/** Loads a manifest beside files, and returns its problems as one line each. */
function problemsOf(invariants: string, files: Readonly<Record<string, string>>, invariantFiles: string[] = []) {
  const loaded = load(
    { path: 'deploy/gateway.yaml', text: MAIN.replace('INVARIANTS', invariants) },
    {
      env: { FILE: 'rules.yaml' },
      invariantFiles,
      readFile(path) {
        const text = files[path];
        if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
        return text;
      },
    },
  );
  return loaded.problems.map(
    ({ file, range, rule, message, related }) =>
      `${file}:${range.line}:${range.column} ${rule} ${message}${related === undefined ? '' : ` (${related.file}:${related.range.line})`}`,
  );
}

describe('a file with invariants', () => {
  it('may be outside of the folder, and its invariants are proven', () => {
    expect(problemsOf('invariants: { file: ../security/rules.yaml }', { '../security/rules.yaml': RULES })).toEqual([
      'security/rules.yaml:3:24 invariant-broken "private" does not hold: GET /one goes to "one", which is public; change the route, or add it to "except" with a reason (deploy/gateway.yaml:5)',
    ]);
  });

  it('is a file that the manifest depends on', () => {
    const text = MAIN.replace('INVARIANTS', 'invariants: { file: rules.yaml }');
    const loaded = load(
      { path: 'gateway.yaml', text },
      { env: {}, readFile: () => RULES.replace('protected', 'public') },
    );
    expect(loaded.problems).toEqual([]);
    expect([...loaded.files.keys()]).toEqual(['rules.yaml']);
    expect(loaded.sources.map(({ path }) => path)).toEqual(['gateway.yaml', 'rules.yaml']);
  });

  it('has its mistakes reported at their places', () => {
    const problems = problemsOf('invariants: { file: rules.yaml }', { 'rules.yaml': RULES.replace('private', '7up') });
    expect(problems).toEqual([expect.stringMatching(/^deploy\/rules\.yaml:2:9 schema "7up" is not a name/)]);
  });

  it('has its syntax errors reported', () => {
    const problems = problemsOf('invariants: { file: rules.yaml }', { 'rules.yaml': 'invariants: [' });
    expect(problems).toEqual([expect.stringMatching(/^deploy\/rules\.yaml:1:\d+ syntax /)]);
  });

  it.each([
    ['another key', `${RULES}routes: []\n`],
    ['no list', 'invariants: { file: other.yaml }\n'],
    ['no value', 'invariants:\n'],
    ['nothing', ''],
  ])('is refused with %s', (_name, text) => {
    const problems = problemsOf('invariants: { file: rules.yaml }', { 'rules.yaml': text });
    expect(problems).toEqual([
      expect.stringMatching(/^deploy\/rules\.yaml:1:1 include this file must have one key, "invariants", with a list/),
    ]);
  });

  it('is refused if it does not exist, at its name', () => {
    expect(problemsOf('invariants: { file: rules.yaml }', {})).toEqual([
      'deploy/gateway.yaml:3:21 include the file "rules.yaml" cannot be read: it does not exist; write a path relative to the manifest',
    ]);
  });

  it('cannot be named by a variable', () => {
    expect(problemsOf('invariants: { file: "${FILE}" }', { 'rules.yaml': RULES })).toEqual([
      expect.stringContaining('the file "${FILE}" cannot be read'),
    ]);
  });

  it('leaves no place for other keys beside it', () => {
    expect(problemsOf('invariants: { file: rules.yaml, files: 1 }', { 'rules.yaml': RULES })).toEqual([
      expect.stringContaining('deploy/gateway.yaml:3:33 schema unknown key "files"'),
    ]);
  });
});

describe('files with further invariants', () => {
  const files = { 'rules.yaml': RULES, '../hidden.yaml': HIDDEN };

  it('add to the list of the manifest and to its file', () => {
    const places = (problems: string[]) => problems.map((problem) => problem.split(' does not')[0]).sort();
    const own = 'invariants: [{ id: tls, require: { tls: true } }]';
    expect(places(problemsOf(own, files, ['../hidden.yaml']))).toEqual([
      'deploy/gateway.yaml:3:41 invariant-broken "tls"',
      'hidden.yaml:2:60 invariant-broken "hidden"',
    ]);
    expect(places(problemsOf('invariants: { file: rules.yaml }', files, ['../hidden.yaml']))).toEqual([
      'deploy/rules.yaml:3:24 invariant-broken "private"',
      'hidden.yaml:2:60 invariant-broken "hidden"',
    ]);
    expect(places(problemsOf('', files, ['rules.yaml', '../hidden.yaml']))).toHaveLength(2);
  });

  it('may not repeat an id', () => {
    const own = 'invariants: [{ id: hidden, require: { access: public } }]';
    expect(problemsOf(own, files, ['../hidden.yaml'])).toContainEqual(
      expect.stringContaining('hidden.yaml:2:11 invariant another invariant has the id "hidden"; rename one'),
    );
  });
});

it('an invariant takes no value from the environment', () => {
  const problems = problemsOf('invariants: [{ id: tls, why: "${FILE}", require: { access: public } }]', {});
  expect(problems).toEqual([
    expect.stringContaining('environment an invariant is the same in every environment; write it without a variable'),
  ]);
});
