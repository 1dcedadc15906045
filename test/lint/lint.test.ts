import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lint } from '../../src/check/lint/lint.ts';
import { RULES } from '../../src/check/lint/rule-table.ts';
import { AUTH, loadText, manifestOf, ROUTE } from '../manifest/support.ts';
import { cases, runs } from '../support/runs.ts';
import { formatProblem, lintText, readText } from './support.ts';

const GATEWAY = readFileSync(new URL('../../gateway.yaml', import.meta.url), 'utf8');
const UNUSED = '  search: { url: http://127.0.0.1:7003 }\n';
const GET = ROUTE.replace('POST', 'GET');

/** Returns a manifest with an unused upstream in line 4. */
function unusedUpstream(above = '', before = ''): string {
  return manifestOf(`${before}${UNUSED}${above}`, GET);
}

const rulesOf = (...args: Parameters<typeof lintText>) => lintText(...args).map(({ rule }) => rule);

describe('the severity of a finding', () => {
  test('is that of the rule by default', () => {
    expect(lintText(unusedUpstream()).map(({ severity }) => severity)).toEqual(['warning']);
  });

  test.each(['off', 'info', 'warning', 'error'])('can be set to %s by the manifest', (severity) => {
    const settings = `lint: { rules: { upstream-unused: ${severity} } }\n`;
    const severities = lintText(unusedUpstream(settings)).map((problem) => problem.severity);
    expect(severities).toEqual(severity === 'off' ? [] : [severity]);
  });

  test('enables a rule of a larger preset when the manifest sets it', () => {
    expect(rulesOf(manifestOf('lint: { rules: { admin-missing: warning } }\n', GET))).toEqual(['admin-missing']);
  });

  test('depends on the preset, and each preset contains the smaller ones', () => {
    const counts = (['minimal', 'recommended', 'strict'] as const).map(
      (preset) => lintText(unusedUpstream(), { preset }).length,
    );
    expect(counts).toEqual([0, 1, 2]);
    expect(rulesOf(unusedUpstream('lint: { preset: minimal }\n'))).toEqual([]);
    expect(rulesOf(unusedUpstream('lint: { preset: minimal }\n'), { preset: 'recommended' })).toEqual([
      'upstream-unused',
    ]);
  });

  test('cannot be set for an unknown rule, which is an error of the manifest', () => {
    const { plan, problems } = loadText(unusedUpstream('lint: { rules: { upstream-unsed: off } }\n'));
    expect(plan).toBeUndefined();
    expect(problems.map(formatProblem)).toEqual([
      '5:18 "upstream-unsed" is not a lint rule; did you mean "upstream-unused"? [schema]',
    ]);
  });

  test('cannot be set for an error', () => {
    expect(loadText(unusedUpstream('lint: { rules: { route-duplicate: off } }\n')).plan).toBeUndefined();
  });
});

describe('a directive', () => {
  const silence = (words: string) => unusedUpstream('', `  # gateway-disable-next-line ${words}\n`);

  test('disables rules on the next line', () => {
    expect(rulesOf(silence('upstream-unused -- it comes soon'))).toEqual([]);
    expect(rulesOf(silence('admin-plain, upstream-unused -- it comes soon'))).toEqual(['directive-unused']);
  });

  test('may be followed by comments and empty lines, and may follow a value', () => {
    const above = '  # gateway-disable-next-line upstream-unused -- soon\n\n  # more\n';
    expect(rulesOf(unusedUpstream('', above))).toEqual([]);
    const behind = unusedUpstream().replace('7002 }', '7002 } # gateway-disable-next-line upstream-unused -- soon');
    expect(rulesOf(behind)).toEqual([]);
  });

  test('disables rules on no other line', () => {
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
  ])('with invalid syntax disables no rule: %s', (words, expected) => {
    expect(rulesOf(silence(words))).toEqual(expected);
  });

  test('cannot disable an error', () => {
    const text = manifestOf(
      '',
      `  # gateway-disable-next-line upstream-unknown -- soon\n${GET.replace('upstream: contacts', 'upstream: other')}`,
    );
    expect(rulesOf(text)).toEqual(['upstream-unknown']);
  });

  test('is only recognized in a comment', () => {
    const text = manifestOf(`schemas:\n  A: { description: "# gateway-disable-next-line nothing" }\n`, GET);
    expect(rulesOf(text)).toEqual(['schema-unused']);
    const block = manifestOf('schemas:\n  A:\n    description: |\n      # gateway-disable-next-line nothing\n', GET);
    expect(rulesOf(block)).toEqual(['schema-unused']);
  });

  test('is not reported as unused if its rule did not run', () => {
    const text = manifestOf('', `  # gateway-disable-next-line admin-missing, online-upstream -- soon\n${GET}`);
    expect(rulesOf(text)).toEqual([]);
    expect(rulesOf(text, { preset: 'strict' })).toEqual(['admin-missing', 'directive-unused']);
  });
});

describe('a secret', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;

  test('is found anywhere in the file, also in a comment', () => {
    expect(lintText(`# ${token}\n${manifestOf('', GET)}`).map(formatProblem)).toEqual([
      '1:3 this looks like a GitHub token; revoke it at its issuer, and write ${NAME} instead [secret-token]',
    ]);
  });

  test('from the environment is never printed', () => {
    const text = manifestOf('listen: ${LISTEN}\n', GET).replace('http://127.0.0.1:7002', "'${URL}'");
    const env = { LISTEN: '0.0.0.0:81', URL: 'http://inside.example:7002' };
    const problems = lintText(text, { preset: 'strict' }, env);
    expect(problems.map(({ rule }) => rule)).toEqual(
      expect.arrayContaining(['listen-exposed', 'listen-privileged', 'upstream-plain-http']),
    );
    expect(JSON.stringify(problems)).not.toMatch(/inside|0\.0\.0\.0|81/);
  });

  test('from the environment is quoted as its reference in the manifest', () => {
    const body = "body: { schema: { type: object, properties: {}, required: ['${NAME}'] } }";
    const text = manifestOf('', ROUTE.replace(' }', `, ${body} }`));
    const problems = lintText(text, {}, { NAME: 'hushed' });
    expect(problems.map(({ message }) => message)).toContain('"${NAME}" is required but missing from "properties"');
    expect(JSON.stringify(problems)).not.toContain('hushed');
  });
});

describe('gateway.yaml', () => {
  test('has no problem under the recommended rules', () => {
    expect(lintText(GATEWAY).map(formatProblem)).toEqual([]);
  });
});

describe('a manifest has lint errors if and only if it does not load', () => {
  const errorRules = fc.subarray(
    RULES.filter(({ severity }) => severity !== 'error').map(({ id }) => id),
    { maxLength: 5 },
  );
  const checkManifest = (text: string, errors: readonly string[]) => {
    const checked = readText(text);
    const { plan } = checked;
    const problems = lint(checked, { preset: 'strict' });
    const found = problems.filter(({ severity }) => severity === 'error');
    expect(found.every(({ rule }) => plan === undefined || errors.includes(rule))).toBe(true);
    if (plan === undefined) expect(found.length).toBeGreaterThan(0);
    const positions = problems.map(({ range }) => [range.line, range.column] as const);
    expect(positions).toEqual(positions.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]));
    expect(lint(checked, { preset: 'strict' })).toEqual(problems);
    return plan;
  };
  const settingsOf = (ids: readonly string[]) => `lint: { rules: { ${ids.map((id) => `${id}: error`).join(', ')} } }\n`;

  test('after any change of a line of gateway.yaml', () => {
    const lines = GATEWAY.split('\n');
    const change = fc.tuple(
      fc.constantFrom('remove', 'double', 'swap'),
      fc.nat(lines.length - 1),
      fc.nat(lines.length - 1),
    );
    fc.assert(
      fc.property(change, errorRules, ([kind, one, other], ids) => {
        const line = lines[one] ?? '';
        const changed =
          kind === 'remove'
            ? lines.toSpliced(one, 1)
            : kind === 'double'
              ? lines.toSpliced(other, 0, line)
              : lines.with(one, lines[other] ?? '').with(other, line);
        checkManifest(settingsOf(ids) + changed.join('\n'), ids);
      }),
      { numRuns: runs(40) },
    );
  });

  test('for any generated manifest', () => {
    let loaded = 0;
    fc.assert(
      fc.property(manifest(), errorRules, (value, ids) => {
        const settings = { rules: Object.fromEntries(ids.map((id) => [id, 'error'])) };
        if (checkManifest(JSON.stringify({ ...value, lint: settings }, null, 1), ids) !== undefined) loaded += 1;
      }),
      { numRuns: runs(1_000) },
    );
    expect(loaded).toBeGreaterThanOrEqual(cases(1_000) / 20);
  });
});

/** Generates manifests that use most keys, and of which most load. */
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
      auth: jwt.map((entry) => ({ tokens: { jwt: entry }, role })),
      cors: fc.constantFrom({ origins: ['*'] }, { origins: ['http://app.example', 'null'] }),
      schemas: fc.record({ A: schema, B: fc.constant({ type: 'string' }) }),
      routes: fc.uniqueArray(route, { minLength: 1, maxLength: 3, selector: ({ path }) => path }).map(completeRoutes),
    },
    { requiredKeys: ['version', 'upstreams', 'routes', 'auth', 'schemas'] },
  );
}

/** Generates an invalid value rarely, because otherwise few manifests would load. */
function mostly<T>(valid: readonly T[], invalid: T): fc.Arbitrary<T> {
  return fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...valid) }, { weight: 1, arbitrary: fc.constant(invalid) });
}

/** Adds the keys that depend on the method and the access of a route. */
function completeRoutes(routes: readonly { method: unknown; access: string; body?: unknown }[]): object[] {
  return routes.map(({ body, ...route }, index) => ({
    ...route,
    id: `r-${index}`,
    ...(route.method !== 'GET' && body !== undefined && { body }),
    ...(route.access === 'protected' && { roles: ['user', 'admin'] }),
    ...(route.method === 'GET' && { websocket: true }),
  }));
}

test('a manifest with errors gets no findings of other rules', () => {
  const text = unusedUpstream().replace('upstream: contacts', 'upstream: contats');
  expect(rulesOf(text)).toEqual(['upstream-unknown']);
  expect(rulesOf(`${AUTH}${text}`)).toEqual(['upstream-unknown']);
});
