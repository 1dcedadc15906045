import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lint } from '../../src/lint/lint.ts';
import { RULES } from '../../src/lint/rule-table.ts';
import { AUTH, loadText, manifestOf, ROUTE } from '../manifest/support.ts';
import { lintText, readText, said } from './support.ts';

const GATEWAY = readFileSync(new URL('../../gateway.yaml', import.meta.url), 'utf8');
const UNUSED = '  search: { url: http://127.0.0.1:7003 }\n';
const GET = ROUTE.replace('POST', 'GET');

/** A manifest with one upstream that no route names, at line 4. */
function unusedUpstream(above = '', before = ''): string {
  return manifestOf(`${before}${UNUSED}${above}`, GET);
}

const rulesOf = (...call: Parameters<typeof lintText>) => lintText(...call).map(({ rule }) => rule);

describe('severities', () => {
  test('are those of the rules', () => {
    expect(lintText(unusedUpstream()).map(({ severity }) => severity)).toEqual(['warning']);
  });

  test.each(['off', 'info', 'warning', 'error'])('are set by the manifest: %s', (severity) => {
    const settings = `lint: { rules: { upstream-unused: ${severity} } }\n`;
    const told = lintText(unusedUpstream(settings)).map((problem) => problem.severity);
    expect(told).toEqual(severity === 'off' ? [] : [severity]);
  });

  test('a rule of a larger preset may be set by itself', () => {
    expect(rulesOf(manifestOf('lint: { rules: { admin-missing: warning } }\n', GET))).toEqual(['admin-missing']);
  });

  test('presets hold more and more', () => {
    const counts = (['minimal', 'recommended', 'strict'] as const).map(
      (preset) => lintText(unusedUpstream(), { preset }).length,
    );
    expect(counts).toEqual([0, 1, 2]);
    expect(rulesOf(unusedUpstream('lint: { preset: minimal }\n'))).toEqual([]);
    expect(rulesOf(unusedUpstream('lint: { preset: minimal }\n'), { preset: 'recommended' })).toEqual([
      'upstream-unused',
    ]);
  });

  test('of a rule that is none are a mistake of the manifest, and it is not served', () => {
    const { plan, problems } = loadText(unusedUpstream('lint: { rules: { upstream-unsed: off } }\n'));
    expect(plan).toBeUndefined();
    expect(problems.map(said)).toEqual([
      '5:18 "upstream-unsed" is not a rule that advises; did you mean "upstream-unused"? [schema]',
    ]);
  });

  test('of an error cannot be set', () => {
    expect(loadText(unusedUpstream('lint: { rules: { route-duplicate: off } }\n')).plan).toBeUndefined();
  });
});

describe('directives', () => {
  const silence = (words: string) => unusedUpstream('', `  # gateway-disable-next-line ${words}\n`);

  test('silence the next line', () => {
    expect(rulesOf(silence('upstream-unused -- it comes soon'))).toEqual([]);
    expect(rulesOf(silence('admin-plain, upstream-unused -- it comes soon'))).toEqual(['directive-unused']);
  });

  test('stand above comments and empty lines too, and behind a value', () => {
    const above = '  # gateway-disable-next-line upstream-unused -- soon\n\n  # more\n';
    expect(rulesOf(unusedUpstream('', above))).toEqual([]);
    const behind = unusedUpstream().replace('7002 }', '7002 } # gateway-disable-next-line upstream-unused -- soon');
    expect(rulesOf(behind)).toEqual([]);
  });

  test('silence no other line', () => {
    expect(rulesOf(`# gateway-disable-next-line upstream-unused -- soon\n${unusedUpstream()}`)).toEqual([
      'directive-unused',
      'upstream-unused',
    ]);
  });

  test.each([
    ['upstream-unused', ['directive-without-reason', 'upstream-unused']],
    ['upstream-unused --', ['directive-without-reason', 'upstream-unused']],
    ['upstream-unused --   ', ['directive-without-reason', 'upstream-unused']],
    ['-- soon', ['directive-malformed', 'upstream-unused']],
    ['upstream unused -- soon', ['directive-malformed', 'upstream-unused']],
    ['everything -- soon', ['directive-unknown-rule', 'upstream-unused']],
    ['schema -- soon', ['directive-unknown-rule', 'upstream-unused']],
  ])('of another form silence nothing: %s', (words, expected) => {
    expect(rulesOf(silence(words))).toEqual(expected);
  });

  test('are no errors, and silence none', () => {
    const text = manifestOf(
      '',
      `  # gateway-disable-next-line upstream-unknown -- soon\n${GET.replace('upstream: contacts', 'upstream: other')}`,
    );
    expect(rulesOf(text)).toEqual(['upstream-unknown']);
  });

  test('are comments alone', () => {
    const text = manifestOf(`schemas:\n  A: { description: "# gateway-disable-next-line nothing" }\n`, GET);
    expect(rulesOf(text)).toEqual(['schema-unused']);
    const block = manifestOf('schemas:\n  A:\n    description: |\n      # gateway-disable-next-line nothing\n', GET);
    expect(rulesOf(block)).toEqual(['schema-unused']);
  });

  test('are not unused where their rule did not run', () => {
    const text = manifestOf('', `  # gateway-disable-next-line admin-missing, online-upstream -- soon\n${GET}`);
    expect(rulesOf(text)).toEqual([]);
    expect(rulesOf(text, { preset: 'strict' })).toEqual(['admin-missing', 'directive-unused']);
  });
});

describe('secrets', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;

  test('are found wherever they stand, in comments too', () => {
    expect(lintText(`# ${token}\n${manifestOf('', GET)}`).map(said)).toEqual([
      '1:3 this looks like a GitHub token; take it back where it was made, and write ${NAME} in its place [secret-token]',
    ]);
  });

  test('of the environment are never said', () => {
    const text = manifestOf('listen: ${LISTEN}\n', GET).replace('http://127.0.0.1:7002', "'${URL}'");
    const env = { LISTEN: '0.0.0.0:81', URL: 'http://inside.example:7002' };
    const problems = lintText(text, { preset: 'strict' }, env);
    expect(problems.map(({ rule }) => rule)).toEqual(
      expect.arrayContaining(['listen-exposed', 'listen-privileged', 'upstream-plain-http']),
    );
    expect(JSON.stringify(problems)).not.toMatch(/inside|0\.0\.0\.0|81/);
  });

  test('of the environment are not quoted: they are told as they are written', () => {
    const body = "body: { schema: { type: object, properties: {}, required: ['${NAME}'] } }";
    const text = manifestOf('', ROUTE.replace(' }', `, ${body} }`));
    const problems = lintText(text, {}, { NAME: 'hushed' });
    expect(problems.map(({ message }) => message)).toContain(
      '"${NAME}" is required, and "properties" does not describe it',
    );
    expect(JSON.stringify(problems)).not.toContain('hushed');
  });
});

describe('gateway.yaml', () => {
  test('has nothing that recommended rules would say', () => {
    expect(lintText(GATEWAY).map(said)).toEqual([]);
  });
});

describe('what lints without errors loads, and what loads has no errors', () => {
  const raised = fc.subarray(
    RULES.filter(({ severity }) => severity !== 'error').map(({ id }) => id),
    { maxLength: 5 },
  );
  const holdsFor = (text: string, errors: readonly string[]) => {
    const read = readText(text);
    const { plan } = read;
    const problems = lint(read, { preset: 'strict' });
    const told = problems.filter(({ severity }) => severity === 'error');
    expect(told.every(({ rule }) => plan === undefined || errors.includes(rule))).toBe(true);
    if (plan === undefined) expect(told.length).toBeGreaterThan(0);
    const places = problems.map(({ range }) => [range.line, range.column] as const);
    expect(places).toEqual(places.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]));
    expect(lint(read, { preset: 'strict' })).toEqual(problems);
    return plan;
  };
  const settingsOf = (ids: readonly string[]) => `lint: { rules: { ${ids.map((id) => `${id}: error`).join(', ')} } }\n`;

  test('whatever becomes of a line of gateway.yaml', () => {
    const lines = GATEWAY.split('\n');
    const change = fc.tuple(
      fc.constantFrom('remove', 'double', 'swap'),
      fc.nat(lines.length - 1),
      fc.nat(lines.length - 1),
    );
    fc.assert(
      fc.property(change, raised, ([kind, one, other], ids) => {
        const line = lines[one] ?? '';
        const changed =
          kind === 'remove'
            ? lines.toSpliced(one, 1)
            : kind === 'double'
              ? lines.toSpliced(other, 0, line)
              : lines.with(one, lines[other] ?? '').with(other, line);
        holdsFor(settingsOf(ids) + changed.join('\n'), ids);
      }),
      { numRuns: 40 },
    );
  });

  test('whatever manifest of this kind', () => {
    let loaded = 0;
    fc.assert(
      fc.property(manifest(), raised, (value, ids) => {
        const settings = { rules: Object.fromEntries(ids.map((id) => [id, 'error'])) };
        if (holdsFor(JSON.stringify({ ...value, lint: settings }, null, 1), ids) !== undefined) loaded += 1;
      }),
      { numRuns: 100 },
    );
    expect(loaded).toBeGreaterThan(5);
  });
});

/** Manifests that mostly load, with something of everything in them. */
function manifest(): fc.Arbitrary<object> {
  const schema = fc.letrec<{ schema: unknown }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.record(
        {
          type: mostly(['string', 'array', 'object', 'integer'], 'thing'),
          maxLength: fc.nat(9),
          minLength: fc.nat(9),
          pattern: mostly(['^a|b$', '[a-z]+', '^(?:a|b)$'], '('),
          enum: fc.uniqueArray(fc.oneof(fc.string(), fc.nat()), { minLength: 1, maxLength: 2 }),
        },
        { requiredKeys: [] },
      ),
      fc.record(
        {
          type: fc.constant('object'),
          properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
          required: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
        },
        { requiredKeys: ['type'] },
      ),
      mostly<unknown>([{ $ref: '#/schemas/B' }, true, false], { $ref: '#/schemas/Nothing' }),
    ),
  })).schema;
  const body = fc.record({ maxBytes: mostly(['1KB', '2GB'], '1kb'), schema }, { requiredKeys: [] });
  const route = fc.record(
    {
      id: fc.constant('a'),
      method: mostly<unknown>(['GET', 'POST', 'any', ['GET', 'PUT']], 'get'),
      path: mostly(['/', '/a', '/A', '/a/{x}', '/a/**', '/{y}/b', '/login'], '/a/'),
      upstream: mostly(['one', 'two'], 'three'),
      access: mostly(['public', 'protected'], 'open'),
      body,
      timeout: fc.constantFrom('1s', '1h'),
    },
    { requiredKeys: ['id', 'method', 'path', 'upstream', 'access'] },
  );
  const upstream = fc.oneof(
    fc.record({
      url: mostly(['http://127.0.0.1:8080', 'http://far.example', 'https://far.example'], 'ftp://x'),
    }),
    fc.record(
      {
        urls: fc.constantFrom(['http://a', 'http://a:80'], ['https://a', 'https://b']),
        retry: fc.boolean(),
        timeouts: fc.constantFrom({ response: '10m' }, { response: '2s', total: '1s' }),
        breaker: fc.constantFrom({}, { failures: 1 }),
      },
      { requiredKeys: ['urls'] },
    ),
  );
  const jwt = fc.record(
    {
      jwks: fc.constantFrom('https://i/keys', 'http://i/keys'),
      algorithms: mostly([['ES256'], ['ES256', 'RS256']], ['HS256']),
      issuer: fc.constant('https://i'),
      audience: fc.constant('a'),
      clockTolerance: fc.constantFrom('1s', '10m'),
      cache: fc.constantFrom({ maxAge: '10m' }),
    },
    { requiredKeys: ['jwks', 'algorithms', 'issuer', 'audience'] },
  );
  const role = { claim: '/role', allow: ['user', 'admin'], message: 'no' };
  return fc.record(
    {
      version: fc.constant(1),
      listen: fc.constantFrom('127.0.0.1:8080', '0.0.0.0:80'),
      admin: fc.constantFrom('127.0.0.1:8080', '127.0.0.1:9901', 'localhost:9901', '0.0.0.0:9901'),
      upstreams: fc.record({ one: upstream, two: upstream }),
      auth: jwt.map((way) => ({ tokens: { jwt: way }, role })),
      cors: fc.constantFrom({ origins: ['*'] }, { origins: ['http://app.example', 'null'] }),
      schemas: fc.record({ A: schema, B: fc.constant({ type: 'string' }) }),
      routes: fc.uniqueArray(route, { minLength: 1, maxLength: 3, selector: ({ path }) => path }).map(named),
    },
    { requiredKeys: ['version', 'upstreams', 'routes', 'auth', 'schemas'] },
  );
}

/** A value that is wrong is rare: else hardly anything would load. */
function mostly<T>(good: readonly T[], bad: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: fc.constant(bad) });
}

/** What of a route goes together with its method and access. */
function named(routes: readonly { method: unknown; access: string; body?: unknown }[]): object[] {
  return routes.map(({ body, ...route }, index) => ({
    ...route,
    id: `r-${index}`,
    ...(route.method !== 'GET' && body !== undefined && { body }),
    ...(route.access === 'protected' && { roles: ['user', 'admin'] }),
    ...(route.method === 'GET' && { websocket: true }),
  }));
}

test('a plan is needed to advise: errors come alone', () => {
  const text = unusedUpstream().replace('upstream: contacts', 'upstream: contats');
  expect(rulesOf(text)).toEqual(['upstream-unknown']);
  expect(rulesOf(`${AUTH}${text}`)).toEqual(['upstream-unknown']);
});
