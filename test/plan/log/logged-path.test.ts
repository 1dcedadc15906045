import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequestTarget } from '../../../src/engine/gateway/request/request-head.ts';
import { load } from '../../../src/engine/load.ts';
import { loggedPath } from '../../../src/engine/log/logged-path.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { worldOf } from '../../support/gateway.ts';
import { runs } from '../../support/runs.ts';

const ENV = { LOG_SECRET: 'k'.repeat(32) };
const UUID = 'f47ac10b-58cc-4372-a567-0e02b2c3d479';
const SECRET = "secret: '${LOG_SECRET}'";

function planOf(routes: readonly object[], log: string): Plan {
  const text = `version: 1
log: ${log}
upstreams: { up: { url: http://127.0.0.1:9 } }
auth:
  tokens: { jwt: { jwks: 'http://127.0.0.1:9/jwks', algorithms: [ES256], issuer: a, audience: b } }
  role: { claim: /role, allow: [admin, user], message: no }
routes:
${routes.map((route, index) => `  - ${JSON.stringify({ id: `r${index}`, method: 'GET', upstream: 'up', access: 'public', ...route })}\n`).join('')}`;
  const { plan, problems } = load({ path: 'gateway.yaml', text }, worldOf(ENV));
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

function logged(plan: Plan, method: string, path: string): string {
  return loggedPath(plan, method, path, plan.router.match(method, path));
}

const DOWNLOAD = { path: '/public/{token}/file' };
const PRIVATE = { path: '/private/{id}', access: 'protected' };

describe('the path in the log', () => {
  it('has surrogates on public routes with parameters by default, and is plain on others', () => {
    const plan = planOf([DOWNLOAD, PRIVATE], `{ ${SECRET} }`);
    expect(logged(plan, 'GET', `/public/${UUID}/file`)).toMatch(/^\/public\/[0-9a-f-]{36}\/file$/);
    expect(logged(plan, 'GET', `/public/${UUID}/file`)).not.toContain(UUID);
    expect(logged(plan, 'GET', `/private/${UUID}`)).toBe(`/private/${UUID}`);
  });

  it('is computed only if a path can have surrogates', () => {
    expect(planOf([{ path: '/public/all' }, PRIVATE], '{}').log.keyedPaths).toBeUndefined();
    expect(planOf([DOWNLOAD], '{ paths: plain }').log.keyedPaths).toBeUndefined();
    expect(planOf([PRIVATE], `{ paths: keyed, ${SECRET} }`).log.keyedPaths).toBeDefined();
  });

  it('has the same surrogate for a value in every position, route and process', () => {
    const routes = [{ path: '/a/{x}' }, { path: '/b/{x}/{y}' }, { path: '/c/**' }, PRIVATE];
    const paths = [`/a/${UUID}`, `/b/7/${UUID}`, `/c/x/${UUID}`, `/private/${UUID}`, `/none/${UUID}`];
    const values = [1, 2].flatMap(() => {
      const plan = planOf(routes, `{ paths: keyed, ${SECRET} }`);
      return paths.map((path) => logged(plan, 'GET', path).split('/').at(-1));
    });
    expect(new Set(values).size).toBe(1);
    expect(values[0]).not.toBe(UUID);
  });

  it('has surrogates if the request has another method, is a preflight or misses its route', () => {
    const plan = planOf([DOWNLOAD, PRIVATE], '{}');
    for (const [method, path] of [
      ['POST', `/public/${UUID}/file`],
      ['OPTIONS', `/public/secret-word/file`],
      ['GET', `/public/${UUID}/file/x`],
      ['GET', `/Public/${UUID}/file`],
      ['GET', `/public/anna%40example.com`],
      ['GET', `/public/${UUID}%2Ffile`],
    ] as const) {
      const value = path.split(/\/|%2F/)[2] ?? '';
      expect(logged(plan, method, path)).not.toContain(value);
      expect(logged(plan, method, path)).toHaveLength(path.length);
    }
    expect(logged(plan, 'POST', `/private/${UUID}`)).toBe(`/private/${UUID}`);
    expect(logged(plan, 'GET', '/wp-login.php')).toBe('/wp-login.php');
  });

  it('keeps literals, short words, and the values that a schema lists', () => {
    const params = { properties: { state: { enum: ['draft', 'completed', 7] } } };
    const plan = planOf(
      [{ path: '/s/{state}', params }, { path: '/w/{x}' }, { path: '/contacts' }, { path: '/f/**' }],
      '{}',
    );
    for (const path of [
      '/s/draft',
      '/s/completed',
      '/s/7',
      '/w/me',
      '/w/contacts',
      '/w/Contacts',
      '/f/docs/getting-started/logo.png',
    ])
      expect(logged(plan, 'GET', path)).toBe(path);
    for (const path of ['/s/other', '/s/8', '/w/somebody', '/f/a1b2c3d4', '/f/2024/4711'])
      expect(logged(plan, 'GET', path)).not.toBe(path);
    expect(logged(plan, 'GET', '/w/contacts;4711')).toMatch(/^\/w\/contacts;[1-9]\d{3}$/);
  });

  it('satisfies the schema of a parameter if the value does', () => {
    const schemas = {
      number: { type: 'integer', minimum: 100, maximum: 5000 },
      uuid: { type: 'string', format: 'uuid' },
      code: { type: 'string', pattern: '^[A-Z]{3}-[0-9]{4}$' },
      prefixed: { type: 'string', pattern: '^(?:doc_[0-9a-z]{6,}|INV[0-9]{6})$' },
      hex: { type: 'string', pattern: '^[0-9a-f]{6}$' },
    };
    const plan = planOf(
      Object.entries(schemas).map(([name, schema]) => ({
        path: `/${name}/{x}`,
        params: { properties: { x: schema } },
      })),
      '{}',
    );
    const values = {
      number: ['100', '4999', '5000'],
      uuid: [UUID],
      code: ['ABC-0017'],
      prefixed: ['doc_x1y2z3', 'INV004711'],
      hex: ['a1b2c3', 'ffffff', '123456'],
    };
    for (const [name, list] of Object.entries(values))
      for (const value of list) {
        const path = logged(plan, 'GET', `/${name}/${value}`);
        expect(path).not.toContain(value);
        expect(plan.router.match('GET', path)?.parameters?.validate(path, '', [])).toEqual([]);
      }
  });

  it('has the route of the request, for random paths and manifests', () => {
    fc.assert(
      fc.property(
        fc.array(anyRoute, { minLength: 1, maxLength: 8 }),
        fc.array(anyPath, { minLength: 20, maxLength: 20 }),
        (routes, paths) => {
          const unique = [...new Map(routes.map((route) => [route.path.replaceAll(/\{\w+\}/g, '{}'), route])).values()];
          const plan = planOf(unique, `{ paths: keyed, ${SECRET} }`);
          for (const { method, path, identifiers } of paths) {
            if (!isAccepted(path)) continue;
            const result = logged(plan, method, path);
            expect([path, plan.router.match(method, result)?.id]).toEqual([path, plan.router.match(method, path)?.id]);
            expect([path, plan.router.allowedMethods(result)]).toEqual([path, plan.router.allowedMethods(path)]);
            expect([path, isAccepted(result)]).toEqual([path, true]);
            for (const identifier of identifiers) expect(result).not.toContain(identifier);
          }
        },
      ),
      { numRuns: runs(500) },
    );
  });
});

const LITERALS = ['api', 'contacts', 'me', 'Admin', 'report2024', 'a.b', '4711', '%C3%A9'];

const anyRoute = fc.record({
  path: fc
    .tuple(fc.array(fc.constantFrom(...LITERALS, '{}', '{}', '{}'), { minLength: 1, maxLength: 4 }), fc.nat(4))
    .map(
      ([segments, rest]) =>
        `/${[...segments.map((text, at) => (text === '{}' ? `{p${at}}` : text)), ...(rest === 0 ? ['**'] : [])].join('/')}`,
    ),
  method: fc.constantFrom<string | string[]>('GET', 'POST', 'any', ['GET', 'DELETE']),
  access: fc.constantFrom('public', 'protected'),
  encodedSlash: fc.constantFrom('keep', undefined),
});

const identifier = fc.oneof(
  fc.uuid(),
  fc.uuid().map((text) => text.toUpperCase()),
  fc.stringMatching(/^[1-9][0-9]{11,20}$/),
  fc.stringMatching(/^[0-9a-f]{8}[0-9][a-f]{8}$/),
  fc.stringMatching(/^[A-Za-z0-9_-]{20}7[A-Za-z0-9_-]{20}$/),
  fc.stringMatching(/^[a-z]{6}\.[a-z]{6}@[a-z]{6}\.com$/),
);

const otherText = fc.constantFrom(
  ...LITERALS,
  ...[
    'API',
    'contacts.',
    'me;x=1',
    'a%2Fcontacts',
    '%2fme',
    'ａ',
    '%EF%BD%81pi',
    'admin%20',
    'x%3Fy',
    '~',
    '!',
    '0',
    '7',
    '%C3%A9t%c3%a9',
    '%F0%9F%98%80',
    'word',
    'longer-words',
    '*',
  ],
);

const anyPath = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'OTHER'),
    segments: fc.array(
      fc.oneof(
        identifier.map((text) => ({ text, isIdentifier: true })),
        otherText.map((text) => ({ text, isIdentifier: false })),
      ),
      {
        minLength: 1,
        maxLength: 5,
      },
    ),
    end: fc.constantFrom('', '', '/'),
  })
  .map(({ method, segments, end }) => ({
    method,
    path: `/${segments.map(({ text }) => text).join('/')}${end}`,
    identifiers: segments.filter(({ isIdentifier }) => isIdentifier).map(({ text }) => text),
  }));

function isAccepted(path: string): boolean {
  try {
    readRequestTarget(path, 'localhost', true);
    return true;
  } catch {
    return false;
  }
}
