import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { load } from '../../../src/engine/load.ts';
import type { Plan } from '../../../src/engine/plan/plan.ts';
import { runs } from '../../support/runs.ts';

type Entry = readonly [method: string, path: string, access?: 'public' | 'protected', more?: object];

/** Returns the plan of routes whose ids are `r` and their index. */
function planOf(entries: readonly Entry[], allow: readonly string[] = ['user']): Plan {
  const manifest = {
    version: 1,
    upstreams: { up: { url: 'http://127.0.0.1:1' } },
    auth: {
      tokens: { jwt: { jwks: 'http://127.0.0.1:1/keys', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
      role: { claim: '/role', allow, message: 'no' },
    },
    routes: entries.map(([method, path, access = 'public', more], index) => ({
      id: `r${index}`,
      method: method.includes(',') ? method.split(',') : method,
      path,
      upstream: 'up',
      access,
      ...more,
    })),
  };
  const readFile = () => '';
  const { plan, problems } = load({ path: 'g', text: JSON.stringify(manifest) }, { env: {}, readFile });
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

function matched(entries: readonly Entry[], method: string, path: string): string | undefined {
  return planOf(entries).router.match(method, path)?.path;
}

describe('the most specific route takes precedence', () => {
  const routes: Entry[] = [
    ['GET', '/**'],
    ['GET', '/a/**'],
    ['GET', '/a/{x}'],
    ['GET', '/a/b'],
    ['GET', '/a/{x}/c'],
    ['GET', '/{y}/b/c'],
    ['GET', '/'],
  ];
  test.each([
    ['/', '/'],
    ['/a', '/a/**'],
    ['/a/b', '/a/b'],
    ['/a/x', '/a/{x}'],
    ['/a/b/c', '/a/{x}/c'],
    ['/a/b/d', '/a/**'],
    ['/z/b/c', '/{y}/b/c'],
    ['/z', '/**'],
    ['/z/b', '/**'],
  ])('for %s', (path, expected) => {
    expect(matched(routes, 'GET', path)).toBe(expected);
    expect(matched(routes.toReversed(), 'GET', path)).toBe(expected);
  });
});

describe('the methods of a route', () => {
  test('are sorted, and other methods do not match', () => {
    const { router, routes } = planOf([['PUT,PATCH', '/a']]);
    expect(routes[0]?.methods).toEqual(['PATCH', 'PUT']);
    expect(router.match('PATCH', '/a')).toBeDefined();
    expect(router.match('GET', '/a')).toBeUndefined();
  });

  test('are all methods for "any"', () => {
    expect(planOf([['any', '/a']]).routes[0]?.methods).toEqual([
      'DELETE',
      'GET',
      'HEAD',
      'OPTIONS',
      'PATCH',
      'POST',
      'PUT',
    ]);
  });

  test('include HEAD with GET', () => expect(planOf([['GET', '/a']]).routes[0]?.methods).toEqual(['GET', 'HEAD']));

  test('exclude HEAD if another route has it for the same path, regardless of parameter names', () => {
    const { router } = planOf([
      ['GET', '/{a}'],
      ['HEAD', '/{b}'],
    ]);
    expect(router.match('HEAD', '/x')?.id).toBe('r1');
    expect(router.match('GET', '/x')?.id).toBe('r0');
  });

  test('let a narrower GET route match HEAD before a wider route', () => {
    const { router } = planOf([
      ['any', '/a/**', 'public'],
      ['GET', '/a/b', 'protected'],
    ]);
    expect(router.match('HEAD', '/a/b')?.access).toBe('protected');
  });

  test('leave other methods of a narrower path to a wider route', () => {
    const { router } = planOf([
      ['any', '/a/**'],
      ['GET', '/a/b'],
    ]);
    expect(router.match('POST', '/a/b')?.id).toBe('r0');
  });

  test.each<[string, string[]]>([
    ['/a', ['GET', 'HEAD', 'POST']],
    ['/a/b', ['DELETE', 'PUT']],
    ['/a/b/c', ['DELETE']],
    ['/', []],
    ['/b', []],
  ])('are listed by allowedMethods for %s', (path, expected) => {
    const { router } = planOf([
      ['GET', '/a'],
      ['POST', '/{x}'.replace('{x}', 'a')],
      ['PUT', '/a/{b}'],
      ['DELETE', '/a/b/**'],
    ]);
    expect(router.allowedMethods(path)).toEqual(expected);
  });

  test('never match an unsupported method', () => {
    const { router } = planOf([['any', '/**']]);
    for (const method of ['TRACE', 'CONNECT', 'get', '', '__proto__', 'constructor'])
      expect(router.match(method, '/a')).toBeUndefined();
  });
});

describe('the path of a request', () => {
  test.each(['/a', '/a/', '/a/b', '/a/b/'])('matches %s with or without a trailing slash', (path) => {
    expect(
      matched(
        [
          ['GET', '/a'],
          ['GET', '/a/{b}'],
        ],
        'GET',
        path,
      ),
    ).toBe(path.startsWith('/a/b') ? '/a/{b}' : '/a');
  });

  test('needs exactly one non-empty segment for a parameter', () => {
    expect(matched([['GET', '/a/{b}']], 'GET', '/a')).toBeUndefined();
    expect(matched([['GET', '/a/{b}']], 'GET', '/a/')).toBeUndefined();
    expect(matched([['GET', '/a/{b}']], 'GET', '/a/b/c')).toBeUndefined();
  });

  test('is case-sensitive', () => expect(matched([['GET', '/a']], 'GET', '/A')).toBeUndefined());

  test('is matched encoded, as received', () => {
    expect(matched([['GET', '/caf%C3%A9']], 'GET', '/caf%C3%A9')).toBeDefined();
    expect(matched([['GET', '/a%20b']], 'GET', '/a b')).toBeUndefined();
  });

  test.each([..."!$&'()+,=:@~.-_"].map((character) => [character]))(
    'matches %s in a literal as plain text',
    (character) => {
      for (const literal of [
        `x${character}y`,
        `x${character}${character === '.' ? 'z' : ''}`,
        `${character === ':' || character === '.' ? 'z' : ''}${character}y`,
        `(${character})`,
      ]) {
        const { router } = planOf([['GET', `/a/${literal}`]]);
        expect(router.match('GET', `/a/${literal}`)?.path).toBe(`/a/${literal}`);
        for (const other of ['xy', 'xxy', 'x', 'y', 'xzy', `${literal}z`, `z${literal}`, ''])
          if (other !== literal) expect([other, router.match('GET', `/a/${other}`)]).toEqual([other, undefined]);
      }
    },
  );

  test.each(['(a|b)', '(.+)', '(?!a)', '[a]', 'a?', 'x:id', '+', '$', '**'.slice(1)])(
    'treats the syntax of rou3 in %s as plain text',
    (text) => {
      let plan: Plan | undefined;
      try {
        plan = planOf([['GET', `/${text}`]]);
      } catch {
        return;
      }
      for (const path of ['/a', '/b', '/ab', '/x', '/xid', '/x1', '/x:'])
        expect([path, plan.router.match('GET', path)]).toEqual([path, undefined]);
      expect(plan.router.match('GET', `/${text}`)?.id).toBe('r0');
    },
  );

  test.each(['/__proto__', '/constructor', '/toString', '/a/__proto__/b'])(
    'may be %s, which is not special',
    (path) => {
      expect(matched([['GET', '/x']], 'GET', path)).toBeUndefined();
      expect(matched([['GET', path]], 'GET', path)).toBe(path);
      expect(matched([['GET', '/a/{b}/b']], 'GET', '/a/__proto__/b')).toBe('/a/{b}/b');
    },
  );
});

describe('a protected path is never reached through a public route', () => {
  const routes: Entry[] = [
    ['GET', '/files/**', 'public'],
    ['GET', '/files/secret', 'protected'],
    ['GET', '/files/{id}/secret', 'protected'],
    ['GET', '/files/vault/**', 'protected'],
    ['GET', '/files/{name}', 'public'],
    ['GET', '/files', 'protected'],
    ['GET', '/{any}/files/secret', 'public'],
    ['GET', '/files/7:sign', 'protected'],
    ['GET', '/files/@me', 'protected'],
    ['GET', '/files/a+b', 'protected'],
    ['GET', '/files/x%20%C3%A9(1)', 'protected'],
  ];
  const { router } = planOf(routes);

  test.each([
    '/files/secret',
    '/files/secret/',
    '/files/SECRET',
    '/files/Secret/',
    '/files/secret.',
    '/files/secret...',
    '/files/secret;x',
    '/files/secret;x=1;y',
    '/files/secret%3Bx',
    '/files/secret%20',
    '/files/secret.%20.',
    '/Files/secret',
    '/files;a/secret',
    '/files./secret',
    '/files/7/Secret',
    '/files/7;v=1/secret.',
    '/files/VAULT',
    '/files/vault./a',
    '/files/Vault;x/a/b',
    '/files/7%3Asign',
    '/files/7%3aSIGN',
    '/files/%40me',
    '/files/a%2Bb',
    '/files/x%20%C3%A9(1)',
    '/files/x%20%c3%a9(1)',
    '/files/x%20%C3%89%281%29.',
    '/files/secret%C2%A0',
    '/files/secret%3F/x',
    '/files/secret%23/x/y',
    '/files/secret;a%3F/x',
    '/files/...',
    '/files/%20...',
    '/files/.%20./',
    '/files/.../Secret',
    '/files/.../.%20../secret',
    '/.../files/secret',
    '/files/...;x/secret.',
    '/files/.%20./SECRET',
    '/files/7%3F/Secret',
    '/files/7%23x/secret.',
  ])('by %s', (path) => expect(router.match('GET', path)?.access).not.toBe('public'));

  test.each([
    '/files/secrets',
    '/files/a.secret',
    '/files/x;secret',
    '/files/secret-2',
    '/files/a/b',
    '/files/.secret',
    '/files/se.cret',
    '/files/A',
    '/files/a;b',
    '/files/%28a%29',
    '/files/secret%2C',
    '/files/a%20b',
    '/files/x%40me',
  ])('except for %s, which is a different path', (path) => expect(router.match('GET', path)?.access).toBe('public'));

  test.each([
    ['a leading blank', '/files/%20secret'],
    ['a no-break space before it', '/files/%C2%A0secret'],
    ['an ideographic space around it', '/files/%E3%80%80secret%E3%80%80'],
    ['blanks in front of a parameter segment', '/%20files/7/%20secret'],
    ['fullwidth letters', '/files/%EF%BD%93%EF%BD%85cret'],
    ['fullwidth capitals', '/files/%EF%BC%B3ECRET'],
    ['mathematical letters', '/files/%F0%9D%93%BCecret'],
    ['the long s', '/files/%C5%BFecret'],
    ['a circled letter', '/files/%E2%93%A2ecret'],
    ['a fullwidth digit', '/files/%EF%BC%97%EF%BC%9Asign'],
    ['a fullwidth commercial at', '/files/%EF%BC%A0me'],
    ['a fullwidth full stop', '/files/secret%EF%BC%8E'],
    ['a horizontal ellipsis', '/files/secret%E2%80%A6'],
    ['a fullwidth semicolon', '/files/secret%EF%BC%9Bx'],
    ['a Greek question mark', '/files/secret%CD%BEx'],
    ['a fullwidth question mark', '/files/secret%EF%BC%9Fx'],
    ['a fullwidth number sign', '/files/secret%EF%BC%83x'],
    ['a fullwidth solidus', '/files%EF%BC%8Fsecret'],
    ['a fullwidth solidus in a longer path', '/files/vault%EF%BC%8Fa%EF%BC%8Fb'],
    ['a fullwidth reverse solidus', '/files%EF%BC%BCsecret'],
    ['fullwidth dot segments', '/files/a/%EF%BC%8E%EF%BC%8E/secret'],
    ['a fullwidth dot', '/files/%EF%BC%8E/secret'],
    ['two dot leaders', '/files/a/%E2%80%A5/secret'],
    ['an escape with a fullwidth percent sign', '/files/%EF%BC%8573ecret'],
    ['a slash behind a fullwidth percent sign', '/files%EF%BC%852Fsecret'],
    ['an escape in fullwidth characters', '/files%EF%BC%85%EF%BC%92%EF%BC%A6secret'],
    ['an escape around a soft hyphen', '/files/%25%C2%AD73ecret'],
    ['a dotted capital I', '/f%C4%B0les/secret'],
    ['a soft hyphen', '/files/sec%C2%ADret'],
    ['a soft hyphen between dots', '/files/a/.%C2%AD./secret'],
    ['a soft hyphen alone', '/files/%C2%AD/secret'],
    ['a zero-width space', '/files/%E2%80%8Bsecret'],
    ['a zero-width space alone', '/files/%E2%80%8B'],
    ['a zero-width joiner', '/files/se%E2%80%8Dcret'],
    ['a word joiner', '/files/se%E2%81%A0cret'],
    ['a byte order mark', '/files/%EF%BB%BFsecret'],
    ['a right-to-left override', '/files/%E2%80%AEsecret'],
    ['a right-to-left mark', '/files/secret%E2%80%8F'],
    ['an Arabic letter mark', '/files/secret%D8%9C'],
    ['a variation selector', '/files/s%EF%B8%8Fecret'],
    ['a combining grapheme joiner', '/files/s%CD%8Fecret'],
    ['a tag character', '/files/s%F3%A0%81%A1ecret'],
    ['an interlinear annotation', '/files/s%EF%BF%B9ecret'],
    ['a Hangul filler', '/files/secret%E3%85%A4'],
    ['another composition', '/files/x%20e%CC%81(1)'],
    ['several of them', '/%EF%BB%BFfiles/%20%C2%AD%EF%BC%B3e%E2%80%8Bcret%EF%BC%8E%20'],
  ])('by a path with %s: %s', (_name, path) => expect(router.match('GET', path)?.access).not.toBe('public'));

  test.each([
    ['letters with accents', '/files/Jos%C3%A9'],
    ['letters with accents of their own', '/files/Jose%CC%81'],
    ['Cyrillic', '/files/%D0%94%D0%BE%D0%B3%D0%BE%D0%B2%D0%BE%D1%80.pdf'],
    ['Chinese with a fullwidth solidus', '/files/%E8%AB%8B%E6%B1%82%E6%9B%B8%EF%BC%8F2024.pdf'],
    ['Persian with a zero-width non-joiner', '/files/%D9%86%D8%A7%D9%85%D9%87%E2%80%8C%D9%87%D8%A7'],
    ['an emoji of several characters', '/files/%F0%9F%91%A9%E2%80%8D%F0%9F%92%BB'],
    ['the sharp s', '/files/stra%C3%9Fe'],
    ['a fraction', '/files/%C2%BD'],
    ['fullwidth text', '/files/%EF%BC%A1%EF%BC%A2'],
    ['blanks inside', '/files/a%20b%20c'],
    ['a leading blank', '/files/%20a'],
  ])('except for a path with %s: %s', (_name, path) => expect(router.match('GET', path)?.access).toBe('public'));

  test.each([
    ['slashes', '/files/7%EF%BC%8F%EF%BC%8Fsecret'],
    ['slashes of both directions', '/files/7%EF%BC%8F%EF%BC%BC%EF%BC%8Fsecret'],
    ['slashes around a blank', '/files/7%EF%BC%8F%20%EF%BC%8Fsecret'],
    ['slashes in front of dot segments', '/files/7/a/b%EF%BC%8F%EF%BC%8F..%EF%BC%8F..%EF%BC%8Fsecret'],
    ['slashes around a blank in front of dot segments', '/files/7/a%EF%BC%8F%20%EF%BC%8F..%EF%BC%8Fsecret'],
  ])('by a server that normalizes Unicode and then merges %s', (_name, path) => {
    const { router } = planOf([
      ['any', '/**', 'public'],
      ['any', '/files/7/secret', 'protected'],
    ]);
    expect(router.match('GET', path)).toBeUndefined();
    expect(router.match('GET', path.replace('secret', 'other'))?.access).toBe('public');
  });

  test('and its methods are not listed for variants of its path', () => {
    const some = planOf([
      ['any', '/files/**', 'public'],
      ['any', '/files/secret', 'protected'],
    ]);
    expect(some.router.allowedMethods('/files/SECRET')).toEqual([]);
  });

  test('with any letter case and any ignored suffix', () => {
    const mangled = fc.array(
      fc.tuple(
        fc.constantFrom('x', 'Y', 'z', '{}'),
        fc.constantFrom('', '.', '..', ';', ';a=b', '%20', '%3B', '%3ba', '.%20', '%C2%AD', '%E2%80%8B.', '%EF%BC%8E'),
        fc.constantFrom('7', 'Id', '...', '.%20.', 'a%3F', '%23', '%25'),
      ),
      { minLength: 1, maxLength: 3 },
    );
    fc.assert(
      fc.property(mangled, fc.boolean(), fc.boolean(), (parts, upper, slash) => {
        const written = `/${parts.map(([letter], index) => letter.replace('{}', `{p${index}}`)).join('/')}`;
        const sent = parts.map(([letter, suffix, text]) => letter.replace('{}', text) + suffix).join('/');
        const asked = `/${upper ? sent.toUpperCase() : sent.toLowerCase()}${slash ? '/' : ''}`;
        const both = planOf([
          ['any', '/**', 'public'],
          ['any', written, 'protected'],
        ]);
        for (const method of ['GET', 'HEAD', 'POST'])
          expect([asked, both.router.match(method, asked)?.access]).not.toEqual([asked, 'public']);
      }),
      { numRuns: runs(300) },
    );
  });

  test('in any order of the routes', () => {
    const two: Entry[] = [
      ['GET', '/a', 'public'],
      ['GET', '/A', 'protected'],
      ['GET', '/**', 'public'],
    ];
    for (const entries of [two, two.toReversed()]) {
      const plan = planOf(entries);
      expect(plan.router.match('GET', '/A')?.access).toBe('protected');
      expect(plan.router.match('GET', '/a.')?.access).not.toBe('public');
    }
  });
});

describe('a stricter route is never bypassed', () => {
  const variants = ['/GATE', '/gate.', '/gate;x', '/Gate%3Fx', '/gate/'.toUpperCase()];
  const body = { type: 'object' };

  test.each<[string, Entry, Entry]>([
    ['a login gate', ['POST', '/gate', 'public', { login: { token: '/t' } }], ['any', '/**']],
    ['a login gate, beside a protected route', ['POST', '/gate', 'public', { login: {} }], ['any', '/**', 'protected']],
    ['fewer roles', ['POST', '/gate', 'protected', { roles: ['user'] }], ['any', '/**', 'protected']],
    ['a body schema', ['POST', '/gate', 'public', { body: { schema: body } }], ['any', '/**']],
    ['a body limit', ['POST', '/gate', 'protected', { body: { maxBytes: '1KB' } }], ['any', '/**', 'protected']],
    ['a query rule', ['POST', '/gate', 'public', { query: { unknown: 'refuse' } }], ['any', '/**']],
  ])('if it has %s', (_name, gate, wide) => {
    const { router } = planOf([gate, wide], ['admin', 'user']);
    expect(router.match('POST', '/gate')?.path).toBe('/gate');
    for (const path of variants) expect([path, router.match('POST', path)]).toEqual([path, undefined]);
    expect(router.match('POST', '/Other;x')?.path).toBe('/**');
  });

  test.each<[string, Entry]>([
    ['a body that is only reported', ['POST', '/gate', 'public', { validation: 'report', body: { schema: body } }]],
    ['no requirements', ['POST', '/gate']],
  ])('except for a route with %s', (_name, gate) => {
    const { router } = planOf([gate, ['any', '/**']], ['admin', 'user']);
    for (const path of variants) expect([path, router.match('POST', path)?.path]).toEqual([path, '/**']);
  });
});

describe('a path with an encoded slash', () => {
  const KEEP = { encodedSlash: 'keep' };
  const routes: Entry[] = [
    ['any', '/files/**', 'public', KEEP],
    ['any', '/files/{id}/keys', 'protected'],
    ['any', '/files/Vault/**', 'protected'],
    ['any', '/files/open/{name}', 'public'],
    ['POST', '/files/auth/login', 'public', { login: { token: '/t' } }],
    ['GET', '/sealed/{id}', 'protected', KEEP],
    ['GET', '/sealed/{id}/x', 'protected'],
    ['POST', '/sealed/auth/login', 'public', { login: { token: '/t' } }],
    ['POST', '/sealed/{id}', 'protected', KEEP],
    ['any', '/other/**', 'public'],
    ['any', '/other/{id}', 'protected'],
  ];
  const { router } = planOf(routes);

  test.each([
    ['GET', '/files/a%2Fb', '/files/**'],
    ['GET', '/files/a%2fb%2Fc/d', '/files/**'],
    ['GET', '/files/open%2Fb', '/files/**'],
    ['GET', '/files/7%2fkeys%2fmore', '/files/**'],
    ['GET', '/files/auth%2flogin', '/files/**'],
    ['GET', '/sealed/a%2Fb', '/sealed/{id}'],
    ['GET', '/sealed/a%2Fx', '/sealed/{id}'],
    ['GET', '/sealed/a%2Fb/', '/sealed/{id}'],
  ])('%s %s matches %s', (method, path, expected) => {
    expect(router.match(method, path)?.path).toBe(expected);
  });

  test.each([
    ['GET', '/files/7%2fkeys'],
    ['GET', '/files/7%2FKeys'],
    ['GET', '/files/7%2Fkeys./'],
    ['GET', '/files/vault%2fa'],
    ['GET', '/files/VAULT;x%2Fa%2Fb'],
    ['GET', '/files/vault%3b%2fa'],
    ['GET', '/files/a%2fb/keys'],
    ['GET', '/files/Vault/a%2fb'],
    ['GET', '/files/open/a%2fb'],
    ['POST', '/files/auth%2flogin'],
    ['POST', '/files/AUTH%2fLogin;x'],
    ['POST', '/sealed/auth%2flogin'],
    ['GET', '/other/a%2Fb'],
    ['GET', '/other/a%2Fb/c'],
    ['GET', '/files%2fa'],
  ])('%s %s has no route', (method, path) => {
    expect(router.match(method, path)).toBeUndefined();
    expect(router.allowedMethods(path)).not.toContain(method);
  });

  test.each([
    ['drops a soft hyphen, then dot segments', '/k/%C2%ADa%2Fb/secret/x/%C2%AD..'],
    ['drops a soft hyphen, beside a letter', '/k/%C3%A9%2Fb/secret/x/%C2%AD..'],
    ['normalizes a two dot leader', '/k/%C3%A9%2Fb/secret/x/%E2%80%A5'],
    ['normalizes fullwidth dots', '/k/a%2F%C3%A9/secret/x/%EF%BC%8E%EF%BC%8E'],
    ['normalizes a fullwidth slash', '/k/a%2Fb%EF%BC%8Fsecret'],
    ['normalizes a letter before the slash', '/k/a%2F%CC%87b/%EF%BD%93ecret'],
    ['drops dot segments, then decodes the slash', '/k/%C3%A9%2Fsecret/a%2Fb/%E2%80%A5'],
    ['drops parameters, then decodes the slash', '/k/a%2Fsecret;x%2Fy'],
    ['trims the end, then decodes slashes and merges them', '/k/a%2F%2Fsecret;x%2Fy'],
  ])('is not read as a stricter path by a server that keeps it and %s: %s', (_name, path) => {
    const { router } = planOf([
      ['any', '/k/**', 'public', KEEP],
      ['any', '/k/{id}/secret', 'protected'],
    ]);
    expect(router.match('GET', path)).toBeUndefined();
    expect(router.match('GET', path.replace('ecret', 'igned'))?.access).toBe('public');
  });

  test('is not read as a stricter path by a server that drops or replaces only some hidden characters', () => {
    const { router } = planOf([
      ['any', '/**', 'public'],
      ['any', '/admin/{x}', 'protected'],
    ]);
    for (const [up, text] of [
      ['%C2%AD..', '%EF%BC%8E%EF%BC%8E'],
      ['%EF%BC%8E%EF%BC%8E', '%C2%AD..'],
      ['%E2%80%A5', '%E2%80%8B.'],
    ]) {
      expect(router.match('GET', `/x/${up}/admin/${text}`)).toBeUndefined();
      expect(router.match('GET', `/x/${up}/open/${text}`)?.access).toBe('public');
    }
    // Each hidden dot segment doubles the readings.
    expect(router.match('GET', `/a${'/%E2%80%A5/b'.repeat(3)}`)).toBeUndefined();
  });

  test.each([
    // Best fit of legacy code pages.
    ['/x/..%E2%88%95admin/1', '/x/a%E2%88%95admin/1'],
    ['/x/..%E2%81%84admin%C2%A51', '/x/a%E2%81%84open%C2%A51'],
    ['/admin%E2%88%961', '/open%E2%88%961'],
    // Parameters that a server removes before it normalizes slashes.
    ['/x/%EF%BC%8E.;%EF%BC%BCadmin/admin/1', '/x/%EF%BC%8E.;%EF%BC%BCadmin/open/1'],
    ['/b;%EF%BC%BC1/%E2%80%A5/admin/1', '/b;%EF%BC%BC1/%E2%80%A5/open/1'],
    // A hidden dot segment behind a hidden slash, which is a text to some servers.
    ['/admin%EF%BC%8F%E2%80%A4%EF%BC%8E%E2%80%8B', '/open%EF%BC%8F%E2%80%A4%EF%BC%8E%E2%80%8B'],
    // A backslash is a slash to some servers only.
    ['/x%EF%BC%BCb%EF%BC%8F../admin%EF%BC%8F1', '/x%EF%BC%BCb%EF%BC%8F../open%EF%BC%8F1'],
  ])('is not read as a stricter path behind hidden slashes: %s', (path, open) => {
    const { router } = planOf([
      ['any', '/**', 'public'],
      ['any', '/admin/{x}', 'protected'],
    ]);
    expect(router.match('GET', path)).toBeUndefined();
    expect(router.match('GET', open)?.access).toBe('public');
  });

  test('has no route if it has so many readings that one request would hold the others', () => {
    const { router } = planOf([
      ['any', '/**', 'public'],
      ['any', '/admin/{x}', 'protected'],
    ]);
    const folded: string[] = [];
    for (const path of [
      '/a%3fb'.repeat(2_000),
      '/A'.repeat(4_000),
      '/%C3%A9'.repeat(400),
      `/${'%EF%BC%BC%E2%88%95'.repeat(800)}`,
      `/${'%EF%B7%BA'.repeat(1_700)}`,
      `/x${'/%EF%BC%9Fa'.repeat(30)}`,
      '/x/100%EF%BC%852fb',
    ])
      if (router.match('GET', path) !== undefined || router.readings(path) !== undefined) folded.push(path);
    expect(folded).toEqual([]);
    for (const path of [
      '/a'.repeat(8_000),
      '/A'.repeat(500),
      `/a${'%C3%A9/b'.repeat(30)}${'/a'.repeat(200)}`,
      '/%C3%A9'.repeat(30),
      `/${'%C3%A9'.repeat(2_000)}`,
    ])
      expect(router.match('GET', path)?.access).toBe('public');
  });

  test('differs from a path that is encoded twice or not at all', () => {
    expect(router.match('GET', '/files/a%252Fb')?.path).toBe('/files/**');
    expect(router.match('GET', '/files/7/keys')?.access).toBe('protected');
  });

  test('is accepted only if some route keeps it', () => {
    expect(router.keepsEncodedSlash).toBe(true);
    expect(planOf(routes.slice(-2)).router.keepsEncodedSlash).toBe(false);
  });

  test('never reaches a public route if its decoded form is protected', () => {
    const letters = fc.array(fc.constantFrom('a', 'B', 'c'), { minLength: 1, maxLength: 4 });
    const joint = fc.constantFrom('/', '%2f', '%2F', ';x%2f', '.%2F', '%20%2f');
    fc.assert(
      fc.property(letters, fc.array(joint, { minLength: 4, maxLength: 4 }), fc.boolean(), (segments, joints, upper) => {
        const written = `/${segments.join('/')}`;
        const both = planOf([
          ['any', '/**', 'public', KEEP],
          ['any', written, 'protected'],
        ]);
        const path = segments.reduce(
          (text, segment, index) => `${text}${index === 0 ? '/' : joints[index]}${segment}`,
          '',
        );
        const asked = upper ? path.toUpperCase() : path;
        expect([asked, both.router.match('GET', asked)?.access]).not.toEqual([asked, 'public']);
      }),
      { numRuns: runs(300) },
    );
  });
});

test.each([
  ['trims dots and keeps parameters', '/.../...;x'],
  ['trims dots and keeps parameters, then merges slashes', '/.../.../...;x'],
  ['trims blanks and dots and keeps parameters', '/.%20./...;x'],
  ['reads the same in encoded parameters', '/.../...%3Bx'],
  ['removes parameters first', '/...;x/7'],
  ['trims dots alone, before a blank', '/.../...%20'],
  ['trims dots alone, after a blank', '/...%20/...'],
  ['trims blanks and then dots, but not again', '/.%20./...%20'],
  ['trims blanks and keeps encoded parameters', '/...%3Bx/...;x'],
  ['drops invisible characters, and keeps dots', '/%E2%80%8B/a/...'],
  ['drops a segment of dots, and keeps invisible characters', '/%E2%80%8B/...'],
  ['drops all three', '/%C2%AD/a/.%E2%80%8B.;x/%EF%BC%8E%C2%AD'],
  ['merges slashes that it normalizes', '/a/...%EF%BC%8F%EF%BC%8F...'],
])('a path does not bypass a stricter route for a server that %s: %s', (_server, path) => {
  const { router } = planOf([
    ['GET', '/{one}/{two}', 'public'],
    ['GET', '/{one}/{two}/{three}', 'public'],
    ['GET', '/{one}/{two}/{three}/{four}', 'public'],
    ['GET', '/{id}', 'protected'],
  ]);
  expect(router.match('GET', path)?.access).not.toBe('public');
});

describe('a server that folds one segment and keeps another one', () => {
  const { router } = planOf([
    ['GET', '/{tenant}/{page}', 'public'],
    ['GET', '/admin/{page}', 'protected'],
    ['GET', '/admin/login', 'public'],
    ['GET', '/{a}/{b}/{c}/{d}/{e}/{f}', 'public'],
  ]);

  test.each([
    '/admin;x/login.',
    '/ADMIN/login;x',
    '/admin./LOGIN',
    '/admin%20/%6cogin',
    '/admin;x/%E2%80%8Blogin',
    '/Admin/Login%3Fx',
  ])('gets no path of a public route that it reads as a protected one: %s', (path) =>
    expect(router.match('GET', path)).toBeUndefined(),
  );

  test('gets the paths that nobody reads as a protected one', () => {
    for (const path of ['/tenant/LOGIN', '/Tenant;x/login.', '/t/a%EF%BC%8Fb', '/t/what%3F%3F%3F%3F%3F%3F%3F%3F'])
      expect([path, router.match('GET', path)?.access]).toEqual([path, 'public']);
    expect(router.match('GET', '/A/B;x/C/%20d/E./f')?.access).toBe('public');
  });

  test('gets no path with more readings than the router looks up', () => {
    expect(router.match('GET', '/.../.../.../.../.../x')?.access).toBe('public');
    expect(router.match('GET', '/.../.../.../.../.../...')).toBeUndefined();
    expect(router.match('GET', '/a%3F/a%3F/a%3F/a%3F/a%3F/a%3F')).toBeUndefined();
  });
});

describe('a literal with capitals does not hide a stricter route from a server that', () => {
  test.each<[string, Entry[], string, string]>([
    [
      'keeps letter case, behind a folded rest',
      [
        ['GET', '/X/**'],
        ['GET', '/{p}/admin', 'protected'],
        ['GET', '/**'],
      ],
      '/x/admin;q',
      '/x/other;q',
    ],
    [
      'keeps letter case, behind a folded path',
      [
        ['GET', '/b/admin'],
        ['GET', '/b/{x}', 'protected'],
        ['GET', '/{p}/Admin'],
      ],
      '/b;q/Admin',
      '/c;q/Admin',
    ],
    [
      'folds the letter case of one segment',
      [
        ['GET', '/b/admin'],
        ['GET', '/b/{x}', 'protected'],
        ['GET', '/{p}/Admin'],
      ],
      '/B/Admin',
      '/C/Admin',
    ],
    [
      'reads an encoded slash as one',
      [
        ['GET', '/X/**'],
        ['GET', '/{p}/Admin/%C3%A9', 'protected'],
        ['GET', '/**', 'public', { encodedSlash: 'keep' }],
      ],
      '/x%2FAdmin.%2F%C3%A9',
      '/x%2FAdmin.%2F%C3%A8',
    ],
    [
      'drops parameters, then decodes the slash',
      [
        ['GET', '/{p}/b/x'],
        ['GET', '/{p}/B/{q}', 'protected'],
        ['GET', '/{p}/x', 'public', { encodedSlash: 'keep' }],
      ],
      '/z%2FB;y%2Fx/x',
      '/z%2FC;y%2Fx/x',
    ],
  ])('%s', (_name, routes, path, open) => {
    const { router } = planOf(routes);
    expect(router.match('GET', path)).toBeUndefined();
    expect(router.match('GET', open)?.access).toBe('public');
  });

  test('folds nothing: each route has its own paths', () => {
    const paths = ['/A/**', '/A/%C3%A9/b', '/A/{p}/B', '/{p}/b/B', '/a@/%C3%A9', '/{p}/b/c', '/a@/**', '/**'];
    const { router } = planOf(paths.map((path, index) => ['GET', path, index % 2 === 0 ? 'public' : 'protected']));
    for (const [path, sent] of [
      ['/A/**', '/A/b'],
      ['/A/%C3%A9/b', '/A/%C3%A9/b'],
      ['/A/{p}/B', '/A/7/B'],
      ['/{p}/b/B', '/7/b/B'],
      ['/a@/%C3%A9', '/a@/%C3%A9'],
      ['/{p}/b/c', '/7/b/c'],
    ] as const)
      expect([sent, router.match('GET', sent)?.path]).toEqual([sent, path]);
  });
});

test('a literal with capitals and its folded form are different routes', () => {
  const { router } = planOf([
    ['GET', '/Admin/x', 'public'],
    ['GET', '/{a}/x', 'protected'],
  ]);
  expect(router.match('GET', '/Admin/x')?.path).toBe('/Admin/x');
  expect(router.match('GET', '/admin/x')?.access).toBe('protected');
});
