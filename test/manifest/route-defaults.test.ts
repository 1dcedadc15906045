import { describe, expect, it } from 'vitest';
import { load } from '../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../src/engine/manifest/source.ts';
import { diff } from '../../src/prove/diff/diff-manifests.ts';
import { createDiffSide } from '../../src/prove/diff/side.ts';
import { explain } from '../../src/prove/explain/explain-request.ts';
import { AUTH, formatProblem, manifestOf } from './support.ts';

const DEFAULTS = `defaults:
  timeout: 7s
  roles: [admin]
  rateLimits: [all]
  requestHeaders: { set: { X-Key: '\${KEY}' } }
  responseHeaders: { remove: [Server] }
  body: { maxBytes: 7KB }
  validation: report
  websocket: { origins: [https://app.example] }
`;
const LIMITS = 'rateLimits: { all: { key: client, allow: 9 per 1m } }\n';
const route = (id: string, more: string) => `  - { id: ${id}, path: /${id}, upstream: contacts, ${more} }\n`;
const PROTECTED = route('one', 'method: any, access: protected');
const text = (above: string, routes: string) => manifestOf(AUTH + LIMITS + above, routes);

function loadWith(main: string, files: Readonly<Record<string, string>> = {}) {
  const environment = createMemoryEnvironment({ KEY: 'a-value-of-a-variable' }, files);
  const loaded = load({ path: 'gateway.yaml', text: main }, environment);
  return { ...loaded, environment };
}

function planned(main: string, files?: Readonly<Record<string, string>>) {
  const loaded = loadWith(main, files);
  if (loaded.plan === undefined) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  return loaded;
}

const entriesOf = (main: string, files?: Readonly<Record<string, string>>) => planned(main, files).manifest.routes;
const problemsOf = (main: string, files?: Readonly<Record<string, string>>) =>
  loadWith(main, files).problems.map((problem) => `${problem.file}:${formatProblem(problem)}`);

describe('the defaults of a manifest', () => {
  it('give routes without an upstream only the values that have an effect there', () => {
    const own = '  - { id: ended, path: /ended, method: any, access: protected, respond: { status: 410 } }\n';
    const [entry] = entriesOf(text(DEFAULTS, own + PROTECTED));
    expect(
      Object.keys(entry ?? {})
        .sort()
        .join(' '),
    ).toBe('access encodedSlash id method path rateLimits respond responseHeaders roles validation websocket');
    expect(entry?.websocket).toBe(false);
  });

  it('are the values of a route that states none', () => {
    expect(entriesOf(text(DEFAULTS, PROTECTED))[0]).toEqual({
      ...entriesOf(text('', PROTECTED))[0],
      timeout: '7s',
      roles: ['admin'],
      rateLimits: ['all'],
      requestHeaders: { set: { 'X-Key': 'a-value-of-a-variable' }, remove: [], keep: [] },
      responseHeaders: { set: {}, remove: ['Server'] },
      body: { maxBytes: '7KB' },
      validation: 'report',
      websocket: { origins: ['https://app.example'] },
    });
  });

  it('are replaced key by key by what a route states', () => {
    const own =
      'timeout: 1s, roles: [user], rateLimits: [], requestHeaders: { remove: [X-A] }, responseHeaders: {}, ' +
      'body: { maxBytes: 1KB }, validation: enforce, websocket: false';
    const routes = route('one', `method: any, access: protected, ${own}`);
    expect(entriesOf(text(DEFAULTS, routes))).toEqual(entriesOf(text('', routes)));
  });

  it('add the size to a body with other rules', () => {
    const routes = route('one', 'method: POST, access: public, body: { types: [text/csv] }');
    expect(entriesOf(text(DEFAULTS, routes))[0]?.body).toEqual({ types: ['text/csv'], maxBytes: '7KB' });
  });

  it.each([
    ['roles on a public route', 'method: GET, access: public', 'roles'],
    ['a body on a route of GET and HEAD', 'method: [GET, HEAD], access: public', 'body'],
    ['WebSockets on a route without GET', 'method: [POST, PUT], access: public', 'websocket'],
    ['WebSockets on a route with a login', 'method: any, access: public, login: {}', 'websocket'],
  ] as const)('set no %s', (_name, more, key) => {
    const [with_, without] = [text(DEFAULTS, route('one', more)), text('', route('one', more))];
    expect(entriesOf(with_)[0]?.[key]).toEqual(entriesOf(without)[0]?.[key]);
    expect(entriesOf(with_)[0]?.timeout).toBe('7s');
  });

  it('hold for a route whose access is a variable', () => {
    const main = text(DEFAULTS, PROTECTED.replace('protected', "'${ACCESS:-protected}'"));
    expect(entriesOf(main)[0]?.roles).toEqual(['admin']);
  });

  it('are no difference to the same values in each route', () => {
    const written =
      "timeout: 7s, roles: [admin], rateLimits: [all], requestHeaders: { set: { X-Key: '${KEY}' } }, " +
      'responseHeaders: { remove: [Server] }, body: { maxBytes: 7KB }, validation: report, ' +
      'websocket: { origins: [https://app.example] }';
    const sides = [
      text(DEFAULTS, PROTECTED),
      text(
        '',
        PROTECTED.replace(' }', () => `, ${written} }`),
      ),
    ].map((main) => {
      const loaded = planned(main);
      return createDiffSide(loaded, loaded.environment.readFile);
    });
    const [shared, own] = sides as [(typeof sides)[0], (typeof sides)[0]];
    expect(diff(shared, own)).toEqual([]);
    expect(diff(own, shared)).toEqual([]);
  });

  it('are reported as differences of the routes, at the lines of the defaults', () => {
    const [old, next] = [DEFAULTS, DEFAULTS.replace('7s', '9s')].map((defaults) => {
      const loaded = planned(text(defaults, PROTECTED));
      return createDiffSide(loaded, loaded.environment.readFile);
    });
    if (old === undefined || next === undefined) throw new Error('a manifest does not load');
    const lines = text(DEFAULTS, PROTECTED).split('\n');
    expect(diff(old, next).map(({ rule, range }) => [rule, range.line])).toEqual([
      ['timeout-changed', lines.indexOf('  timeout: 7s') + 1],
    ]);
  });

  it('are explained with their own lines', async () => {
    const main = text(DEFAULTS, PROTECTED);
    const explanation = await explain(
      planned(main),
      { method: 'POST', target: '/one', headers: [], body: Buffer.from('x') },
      { company_role: 'admin' },
    );
    const lines = main.split('\n').map((line) => line.trim());
    const named = Object.fromEntries(
      explanation.steps.map(({ step, locations: [first] }) => [step, lines[(first?.line ?? 0) - 1]]),
    );
    expect(named['role']).toBe('roles: [admin]');
    expect(named['body']).toBe('body: { maxBytes: 7KB }');
    expect(JSON.stringify(explanation)).not.toContain('a-value-of-a-variable');
  });

  it('have one problem for all routes, at their own place, that no fix of one route changes', () => {
    const routes = PROTECTED + route('two', 'method: GET, access: protected');
    const { problems } = loadWith(text('defaults: { roles: [adm] }\n', routes));
    expect(problems.map(formatProblem)).toEqual([
      '9:21 "adm" is not a role that auth.role allows, and a route cannot add roles; did you mean "admin"?',
    ]);
    const misspelt = loadWith(text('defaults: { timeout: 7 s }\n', routes)).problems;
    expect(misspelt.map(({ range }) => range.line)).toEqual([9]);
  });

  it.each(['access: public', 'path: /x', 'method: GET', 'upstream: contacts', 'body: { schema: true }'])(
    'cannot have %s',
    (entry) => {
      expect(problemsOf(text(`defaults: { ${entry} }\n`, PROTECTED))[0]).toMatch(
        /^gateway\.yaml:9:\d+ .*(key|maxBytes)/,
      );
    },
  );
});

describe('the defaults of an included file', () => {
  const include = 'include: a.yaml\n';
  const inA = (defaults: string) => ({
    'a.yaml': `${defaults}routes:\n${route('two', 'method: any, access: protected')}`,
  });

  it('hold for its routes only, and those of the manifest only for the others', () => {
    const entries = entriesOf(
      text('include: a.yaml\ndefaults: { timeout: 7s }\n', PROTECTED),
      inA('defaults: { validation: report }\n'),
    );
    expect(entries.map(({ timeout, validation }) => [timeout, validation])).toEqual([
      ['7s', 'enforce'],
      [undefined, 'report'],
    ]);
  });

  it('may narrow the roles of the manifest, which hold without them', () => {
    const main = text(`${include}defaults: { roles: [admin, user] }\n`, PROTECTED);
    const rolesIn = (defaults: string) => entriesOf(main, inA(defaults))[1]?.roles;
    expect(rolesIn('')).toEqual(['admin', 'user']);
    expect(rolesIn('defaults: { timeout: 1s }\n')).toEqual(['admin', 'user']);
    expect(rolesIn('defaults: { roles: [user] }\n')).toEqual(['user']);
  });

  it('may not widen the roles of the manifest', () => {
    const main = text(`${include}defaults: { roles: [admin] }\n`, PROTECTED);
    const { plan, problems } = loadWith(main, inA('defaults: { roles: [admin, user] }\n'));
    expect(plan).toBeUndefined();
    expect(
      problems.map(({ file, range, rule, related }) => [file, range.line, range.column, rule, related?.file]),
    ).toEqual([['a.yaml', 1, 28, 'include', 'gateway.yaml']]);
  });

  it.each(['access: public', 'body: { schema: true }', 'timout: 1s'])('cannot have %s', (entry) => {
    expect(problemsOf(text(include, PROTECTED), inA(`defaults: { ${entry} }\n`))).toEqual([
      expect.stringMatching(/^a\.yaml:1:\d+ routes have no default for this key; write it in each route$/),
    ]);
  });

  it('are problems of that file', () => {
    expect(problemsOf(text(include, PROTECTED), inA('defaults: { timeout: 1 }\n'))).toEqual([
      expect.stringMatching(/^a\.yaml:1:22 /),
    ]);
    // An empty value is no missing one.
    for (const key of ['timeout', 'rateLimits', 'requestHeaders'])
      expect(problemsOf(text(include, PROTECTED), inA(`defaults: { ${key}: }\n`))).toEqual([
        expect.stringMatching(/^a\.yaml:1:\d+ an empty value is not /),
      ]);
  });
});

describe('a key that begins with x-', () => {
  const simple = "x-note: { text: '${UNSET}', deep: [1, { a: b }] }\n";
  const anchored = 'x-common: &common { set: { X-Of: contacts } }\n';

  it('is ignored, also with a variable that is not set', () => {
    const { manifest, document } = planned(text(simple, PROTECTED));
    expect(manifest).not.toHaveProperty('x-note');
    expect(document.value).not.toHaveProperty('x-note');
    expect(entriesOf(text(simple, PROTECTED))).toEqual(entriesOf(text('', PROTECTED)));
  });

  it('is read alike with and without anchors, which only one of the readers knows', () => {
    const main = text(simple + anchored, route('one', 'method: any, access: public, requestHeaders: *common'));
    const same = route('one', 'method: any, access: public, requestHeaders: { set: { X-Of: contacts } }');
    expect(entriesOf(main)).toEqual(entriesOf(text(simple, same)));
  });

  it('may be in an included file', () => {
    const file = `${simple}routes:\n${route('two', 'method: GET, access: public')}`;
    expect(entriesOf(text('include: a.yaml\n', PROTECTED), { 'a.yaml': file }).map(({ id }) => id)).toEqual([
      'one',
      'two',
    ]);
  });

  it('is unknown below the top', () => {
    expect(problemsOf(text('server: { x-note: 1 }\n', PROTECTED))[0]).toContain('unknown key "x-note"');
  });
});
