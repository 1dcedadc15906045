import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRequestTarget } from '../../../src/gateway/request/request-target.ts';
import type { Plan } from '../../../src/plan/plan.ts';
import { loadText, manifestOf, problemOf } from '../../manifest/support.ts';

function route(path: string, replace: string, put: string, more = ''): string {
  const quoted = JSON.stringify({ replace, with: put });
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

/** What the upstream is asked for; `undefined` when no route matches. */
function asked(plan: Plan, path: string): string | undefined {
  const found = plan.router.match('GET', path);
  return found && (found.upstreamPath?.(path) ?? path);
}

describe('the path at the upstream', () => {
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
  ])('of %s with %s as %s: %s is asked for as %s', (path, replace, put, sent, expected) => {
    expect(asked(planOf(route(path, replace, put)), sent)).toBe(expected);
  });

  test('is the one that was sent where nothing is said of it', () => {
    expect(planOf(manifestOf()).routes[0]?.upstreamPath).toBeUndefined();
  });

  test('is one that the path guard lets through, whatever was matched', () => {
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
        (base, put, rest, cut, keeps) => {
          const prefix = path(base.slice(1).split('/').slice(0, cut)).replace(/\/+$/, '') || '/';
          const pattern = base === '/' ? '/**' : `${base}/**`;
          const more = keeps ? ', encodedSlash: keep' : '';
          const { plan } = loadText(route(pattern.replaceAll("'", "''"), prefix, put, more));
          if (plan === undefined) return;
          loaded += 1;
          const sent = rest.length === 0 ? base : `${base === '/' ? '' : base}${path(rest)}`;
          if (!isPassed(sent, keeps)) return;
          const upstream = asked(plan, sent);
          if (upstream === undefined) return;
          passed += 1;
          expect(readRequestTarget(upstream, undefined, keeps)).toEqual({ path: upstream, query: '' });
          expect(upstream.endsWith(sent.slice(prefix === '/' ? 0 : prefix.length))).toBe(true);
        },
      ),
      { numRuns: 4_000 },
    );
    expect(loaded).toBeGreaterThan(500);
    expect(passed).toBeGreaterThan(200);
  });
});

function isPassed(path: string, keeps: boolean): boolean {
  try {
    return readRequestTarget(path, undefined, keeps).query === '';
  } catch {
    return false;
  }
}

describe('what is replaced', () => {
  const HOW = 'is not how "/api/contacts/{id}" begins; write whole segments of it, at most /api/contacts';
  test.each([
    ['/api/contacts/{id}', '/api/contact', `"/api/contact" ${HOW}`],
    ['/api/contacts/{id}', '/contacts', `"/contacts" ${HOW}`],
    ['/api/contacts/{id}', '/API', `"/API" ${HOW}`],
    ['/api/contacts/{id}', '/api/contacts/id', `"/api/contacts/id" ${HOW}`],
    [
      '/api/contacts/{id}',
      '/api/contacts/{id}',
      'a prefix is literal: it has no {name} and no **; write the segments before them',
    ],
    ['/api/contacts/{id}', '/api/', 'a trailing slash is never needed; write /api'],
    ['/api/contacts/{id}', '/api/../x', 'a path has no ".." segments; write the path that is meant'],
    ['/api/contacts/{id}', '/api//contacts', 'a path has no empty segments; write one slash'],
    [
      '/{tenant}/contacts',
      '/tenant',
      '"/tenant" is not how "/{tenant}/contacts" begins; write whole segments of it, at most /',
    ],
  ])('of %s cannot be %s', (path, replace, message) => {
    const text = route(path, replace, '/v2');
    const column = (text.split('\n')[4] ?? '').indexOf('"replace":') + '"replace":'.length + 1;
    expect(problemOf(text)).toBe(`5:${column} ${message}`);
  });

  test.each([
    ['/v2/', 'a trailing slash is never needed; write /v2'],
    ['/{id}', 'a prefix is literal: it has no {name} and no **; write the segments before them'],
    ['/**', 'a prefix is literal: it has no {name} and no **; write the segments before them'],
    ['/./v2', 'a path has no "." segments; write the path that is meant'],
    ['/%2e%2e', '"%2e%2e" has characters that a path cannot hold; percent-encode them in upper case, as in %C3%A9'],
    ['/a%2Fb', '"%2F" cannot stand in a route\'s path; write {name} for its segment, and encodedSlash: keep'],
    ['/..;a', '"..;a" has characters that a path cannot hold; percent-encode them in upper case, as in %C3%A9'],
    ['/v2?x', 'a path has no query and no fragment; leave out what follows the path'],
    ['//v2', 'a path has no empty segments; write one slash'],
  ])('cannot become %s', (put, message) => {
    expect(problemOf(route('/api/**', '/api', put)).replace(/^\S+ /, '')).toBe(message);
  });

  test('is not told of where the path itself is faulty', () => {
    expect(problemOf(route('/api/./x', '/api', '/')).replace(/^\S+ /, '')).toContain('"." segments');
  });
});
