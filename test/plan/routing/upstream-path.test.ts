import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRequestTarget } from '../../../src/engine/gateway/request/request-head.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { loadText, manifestOf, problemOf } from '../../manifest/support.ts';
import { cases, runs } from '../../support/runs.ts';

function route(path: string, replace: string, replacement: string, more = ''): string {
  const quoted = JSON.stringify({ replace, with: replacement });
  return manifestOf(
    '',
    `  - { id: r, method: GET, path: '${path}', upstream: contacts, access: public, upstreamPath: ${quoted}${more} }\n`,
  );
}

function planOf(text: string): Plan {
  const { plan, problems } = loadText(text);
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

/** Returns the path that the upstream receives; `undefined` if no route matches. */
function upstreamPathOf(plan: Plan, path: string): string | undefined {
  const route = plan.router.match('GET', path);
  return route && (route.upstreamPath?.(path) ?? path);
}

describe('the upstream path', () => {
  test.each([
    ['/api/contacts/**', '/api/contacts', '/', '/api/contacts', '/'],
    ['/api/contacts/**', '/api/contacts', '/', '/api/contacts/', '/'],
    ['/api/contacts/**', '/api/contacts', '/', '/api/contacts/7', '/7'],
    ['/api/contacts/**', '/api/contacts', '/', '/api/contacts/7/', '/7/'],
    ['/api/contacts/**', '/api/contacts', '/', '/api/contacts/api/contacts', '/api/contacts'],
    ['/api/contacts/**', '/api/contacts', '/v2', '/api/contacts', '/v2'],
    ['/api/contacts/**', '/api/contacts', '/v2', '/api/contacts/', '/v2/'],
    ['/api/contacts/**', '/api/contacts', '/v2/people', '/api/contacts/7', '/v2/people/7'],
    ['/api/contacts/**', '/api', '/', '/api/contacts/7', '/contacts/7'],
    ['/api/contacts/**', '/', '/v2', '/api/contacts/7', '/v2/api/contacts/7'],
    ['/api/contacts/**', '/', '/', '/api/contacts/7', '/api/contacts/7'],
    ['/api/contacts/{id}', '/api/contacts', '/', '/api/contacts/a%20b;c', '/a%20b;c'],
    ['/api/contacts', '/api/contacts', '/', '/api/contacts', '/'],
    ['/api/contacts', '/api/contacts', '/', '/api/contacts/', '/'],
    ['/**', '/', '/v2', '/', '/v2/'],
    ['/', '/', '/v2', '/', '/v2/'],
    ['/caf%C3%A9/**', '/caf%C3%A9', '/th%C3%A9', '/caf%C3%A9/%C3%A9', '/th%C3%A9/%C3%A9'],
  ])('for %s, replaces %s with %s: %s becomes %s', (path, replace, replacement, requestPath, expected) => {
    expect(upstreamPathOf(planOf(route(path, replace, replacement)), requestPath)).toBe(expected);
  });

  test('is the request path if the route has no upstreamPath', () => {
    expect(planOf(manifestOf()).routes[0]?.upstreamPath).toBeUndefined();
  });

  test('is always a path that the path guard accepts', () => {
    const part = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.constantFrom('a', 'B', '...', '~', 'a.', '.a', 'caf%C3%A9', '%20a', 'a;b', '%2e', '..'),
      },
      {
        weight: 2,
        arbitrary: fc.constantFrom('', '.', ';', '%2F', 'a%2fb', '..%2fa', 'a%2f', '%2f', '%5c', '%25', '%3b'),
      },
      { weight: 1, arbitrary: fc.string({ maxLength: 3 }) },
    );
    const path = (parts: readonly string[]) => `/${parts.join('/')}`;
    const paths = fc.array(part, { maxLength: 3 }).map(path);
    let loaded = 0;
    let passed = 0;
    fc.assert(
      fc.property(
        paths,
        paths,
        fc.array(part, { maxLength: 4 }),
        fc.nat(3),
        fc.boolean(),
        (base, replacement, rest, cut, keeps) => {
          const prefix = path(base.slice(1).split('/').slice(0, cut)).replace(/\/+$/, '') || '/';
          const pattern = base === '/' ? '/**' : `${base}/**`;
          const more = keeps ? ', encodedSlash: keep' : '';
          const { plan } = loadText(route(pattern.replaceAll("'", "''"), prefix, replacement, more));
          if (plan === undefined) return;
          loaded += 1;
          const requestPath = rest.length === 0 ? base : `${base === '/' ? '' : base}${path(rest)}`;
          if (!isAccepted(requestPath, keeps)) return;
          const upstream = upstreamPathOf(plan, requestPath);
          if (upstream === undefined) return;
          passed += 1;
          expect(readRequestTarget(upstream, undefined, keeps)).toEqual({ path: upstream, query: '' });
          expect(upstream.endsWith(requestPath.slice(prefix === '/' ? 0 : prefix.length))).toBe(true);
        },
      ),
      { numRuns: runs(4_000) },
    );
    expect(loaded).toBeGreaterThan(cases(500));
    expect(passed).toBeGreaterThan(cases(200));
  });
});

function isAccepted(path: string, keeps: boolean): boolean {
  try {
    return readRequestTarget(path, undefined, keeps).query === '';
  } catch {
    return false;
  }
}

describe('an invalid upstreamPath', () => {
  const NOT_A_PREFIX = 'is not a prefix of "/api/contacts/{id}"; write complete segments of it, at most /api/contacts';
  test.each([
    ['/api/contacts/{id}', '/api/contact', `"/api/contact" ${NOT_A_PREFIX}`],
    ['/api/contacts/{id}', '/contacts', `"/contacts" ${NOT_A_PREFIX}`],
    ['/api/contacts/{id}', '/API', `"/API" ${NOT_A_PREFIX}`],
    ['/api/contacts/{id}', '/api/contacts/id', `"/api/contacts/id" ${NOT_A_PREFIX}`],
    [
      '/api/contacts/{id}',
      '/api/contacts/{id}',
      'a prefix is literal: it has no {name} and no **; write the segments before them',
    ],
    ['/api/contacts/{id}', '/api/', 'a trailing slash is never needed; write /api'],
    ['/api/contacts/{id}', '/api/../x', 'a path has no ".." segments; write the path without them'],
    ['/api/contacts/{id}', '/api//contacts', 'a path has no empty segments; write a single slash'],
    [
      '/{tenant}/contacts',
      '/tenant',
      '"/tenant" is not a prefix of "/{tenant}/contacts"; write complete segments of it, at most /',
    ],
  ])('for %s cannot replace %s', (path, replace, message) => {
    const text = route(path, replace, '/v2');
    const column = (text.split('\n')[4] ?? '').indexOf('"replace":') + '"replace":'.length + 1;
    expect(problemOf(text)).toBe(`5:${column} ${message}`);
  });

  test.each([
    ['/v2/', 'a trailing slash is never needed; write /v2'],
    ['/{id}', 'a prefix is literal: it has no {name} and no **; write the segments before them'],
    ['/**', 'a prefix is literal: it has no {name} and no **; write the segments before them'],
    ['/./v2', 'a path has no "." segments; write the path without them'],
    ['/%2e%2e', '"%2e%2e" has characters that a path cannot contain; percent-encode them in upper case, as in %C3%A9'],
    ['/a%2Fb', '"%2F" is not allowed in a route\'s path; write {name} for its segment, and encodedSlash: keep'],
    ['/..;a', '"..;a" is refused in every request\'s path, also with escapes; remove it'],
    ['/v2?x', 'a path has no query and no fragment; remove everything after the path'],
    ['//v2', 'a path has no empty segments; write a single slash'],
  ])('cannot insert %s', (replacement, message) => {
    expect(problemOf(route('/api/**', '/api', replacement)).replace(/^\S+ /, '')).toBe(message);
  });

  test('is not reported if the route path itself is invalid', () => {
    expect(problemOf(route('/api/./x', '/api', '/')).replace(/^\S+ /, '')).toContain('"." segments');
  });
});
