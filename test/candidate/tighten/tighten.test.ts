import { describe, expect, it } from 'vitest';
import { formatText } from '../../../src/check/fmt/format-text.ts';
import { PathShapes } from '../../../src/traffic/tighten/path-shape.ts';
import { idsOf, type Line, loadText, logText, textAfter, tightenText, usageOf } from './support.ts';

const HEAD = `version: 1
upstreams:
  up: { url: 'http://127.0.0.1:9' }
  old: { url: 'http://127.0.0.1:9' }
auth:
  tokens:
    jwt: { jwks: 'http://127.0.0.1:9/keys', algorithms: [ES256], issuer: 'https://issuer.example', audience: a }
  role: { claim: /role, allow: [admin, user, auditor], message: no }
`;

const manifestOf = (routes: string, head = HEAD) => `${head}routes:\n${routes}`;

const ONE = `  - { id: one, method: GET, path: /one, upstream: up, access: public }\n`;
const line = (method: string, path: string, route: string, members: Line = {}): Line => ({
  method,
  path,
  route,
  upstream: 'up',
  ...members,
});
const used = line('GET', '/one', 'one');

/** With the members of `log.replay`. */
const replayed = (method: string, path: string, route: string, members: Line = {}): Line =>
  line(method, path, route, { manifest: '0123456789abcdef', credential: 'none', ...members });

describe('proposals for routes', () => {
  it('remove a route without a request, with its comment and the upstream that it used', async () => {
    const text = manifestOf(`${ONE}
  # Reports of the old service.
  - id: reports # since 2019
    method: GET
    path: /reports
    upstream: old
    access: protected

  # About two.
  - { id: two, method: GET, path: /two, upstream: up, access: public }
`);
    const result = await tightenText(text, logText([used, line('GET', '/two', 'two')]));
    expect(idsOf(result)).toEqual(['route/reports', 'unused/upstreams/old']);
    expect(textAfter(result)).toBe(
      manifestOf(
        `${ONE}
  # About two.
  - { id: two, method: GET, path: /two, upstream: up, access: public }
`,
        HEAD.replace(/ {2}old: .*\n/, ''),
      ),
    );
  });

  it('say that a route had only refused requests', async () => {
    const text = manifestOf(`${ONE}  - { id: two, method: GET, path: /two, upstream: up, access: protected }\n`);
    const refused = line('GET', '/two', 'two', {
      status: 401,
      decision: 'refused',
      refusal: 'token_missing',
      gatewayMs: undefined,
    });
    const { proposals } = await tightenText(text, logText([used, refused, refused]));
    expect(proposals.map(({ proposal: { id, message, refused } }) => [id, message, refused])).toEqual([
      ['route/two', 'the route "two" had only refused requests; remove it', 2],
    ]);
  });

  it('keep a route whose upstream failed, and one whose client disconnected', async () => {
    const text = manifestOf(
      `${ONE}  - { id: two, method: GET, path: /two, upstream: up, access: public }\n  - { id: three, method: GET, path: /three, upstream: up, access: public }\n`,
    );
    const failed = line('GET', '/two', 'two', {
      status: 503,
      decision: 'refused',
      refusal: 'upstream_unavailable',
      gatewayMs: undefined,
    });
    const aborted = line('GET', '/three', 'three', { status: undefined, aborted: true });
    expect(idsOf(await tightenText(text, logText([used, failed, aborted])))).toEqual([]);
  });

  it('keep a protected route whose requests a public wildcard would get', async () => {
    const text = manifestOf(`  - { id: all, method: any, path: '/files/**', upstream: up, access: public }
  - { id: secret, method: GET, path: /files/secret, upstream: up, access: protected }
`);
    const paths = Array.from('abcdefghijkl', (name) => line('GET', `/files/${name}/${name}/${name}`, 'all'));
    const deep = Array.from('abcdefghijkl', (name) =>
      line('GET', `/files/${name}/${'x/'.repeat(name.charCodeAt(0) - 90)}y`, 'all'),
    );
    const result = await tightenText(text, logText([...paths, ...deep]));
    expect(idsOf(result)).toEqual(['method/all']);
    expect(result.kept).toEqual([{ route: 'secret', reason: 'without it, its requests would match the route "all"' }]);
  });

  it('remove a protected route after the wildcard beside it lost the method', async () => {
    const text = manifestOf(`  - { id: all, method: any, path: '/files/**', upstream: up, access: public }
  - { id: secret, method: DELETE, path: /files/secret, upstream: up, access: protected }
`);
    const deep = Array.from('abcdefghijkl', (name) =>
      line('GET', `/files/${'x/'.repeat(name.charCodeAt(0) - 96)}y`, 'all'),
    );
    const result = await tightenText(text, logText(deep));
    expect(result.proposals.map(({ proposal, needs }) => [proposal.id, needs])).toEqual([
      ['method/all', []],
      ['route/secret', ['method/all']],
    ]);
    expect(idsOf(await tightenText(text, logText(deep), { only: ['route/secret'] }))).toEqual([
      'method/all',
      'route/secret',
    ]);
  });

  it('keep a protected route of which a public route has another spelling', async () => {
    const text = manifestOf(`  - { id: page, method: GET, path: '/{page}', upstream: up, access: public }
  - { id: secret, method: GET, path: /files/secret, upstream: up, access: protected }
`);
    const result = await tightenText(text, logText([line('GET', '/start', 'page')]));
    expect(result.kept).toEqual([
      {
        route: 'secret',
        reason: 'without it, requests with other spellings of its paths would match the route "page"',
      },
    ]);
  });

  it('are none without an allowed request', async () => {
    expect(idsOf(await tightenText(manifestOf(ONE), logText([])))).toEqual([]);
  });
});

describe('a selected proposal', () => {
  it('has the proposal that creates its route, also if that has the id of the wildcard', async () => {
    const text = manifestOf(
      `  - { id: docs, method: any, path: '/docs/**', upstream: up, access: public, encodedSlash: keep }\n`,
    );
    const lines = [line('GET', '/docs', 'docs'), line('GET', '/docs/a%2Fb', 'docs')];
    expect(idsOf(await tightenText(text, logText(lines), { only: ['encoded-slash/docs'] }))).toEqual([
      'encoded-slash/docs',
      'wildcard/docs',
    ]);
  });
});

describe('proposals for methods', () => {
  const routes = (method: string) => `  - { id: one, method: ${method}, path: /one, upstream: up, access: public }\n`;
  const methodsAfter = async (method: string, ...methods: string[]) => {
    const result = await tightenText(
      manifestOf(routes(method)),
      logText(methods.map((name) => line(name, '/one', 'one'))),
    );
    return /method: (.*), path/.exec(textAfter(result))?.[1];
  };

  it('list the methods that were used', async () => {
    expect(await methodsAfter('any', 'POST', 'GET')).toBe('[GET, POST]');
    expect(await methodsAfter('any', 'GET')).toBe('GET');
    expect(await methodsAfter('[GET, POST, DELETE]', 'DELETE')).toBe('[DELETE]');
    expect(await methodsAfter('[GET, POST]', 'GET', 'POST')).toBe('[GET, POST]');
  });

  it('take HEAD for a use of GET', async () => {
    expect(await methodsAfter('any', 'HEAD')).toBe('GET');
    expect(await methodsAfter('[GET, HEAD, POST]', 'GET')).toBe('[GET, HEAD]');
    expect(await methodsAfter('GET', 'HEAD')).toBe('GET');
  });
});

describe('a route with GET', () => {
  it('does not get the HEAD of a route with the same path', async () => {
    const text = manifestOf(`  - { id: get, method: GET, path: /a, upstream: up, access: public }
  - { id: head, method: HEAD, path: /a, upstream: up, access: protected }
`);
    const result = await tightenText(text, logText([line('GET', '/a', 'get')]));
    expect(result.kept).toEqual([{ route: 'head', reason: 'without it, its requests would match the route "get"' }]);
  });

  it('is not written in a wildcard beside a route with HEAD, which its HEAD would take over', async () => {
    const text = manifestOf(`  - { id: all, method: [GET, PUT], path: '/**', upstream: up, access: public }
  - { id: head, method: [HEAD, POST], path: '/a/{p}/**', upstream: up, access: protected }
`);
    const lines = [
      line('GET', '/a/1/b', 'all'),
      replayed('HEAD', '/a/1/b', 'head', { role: ['admin', 'user', 'auditor'] }),
    ];
    expect(idsOf(await tightenText(text, logText(lines)))).toEqual(['method/all', 'method/head']);
  });
});

describe('proposals for roles', () => {
  const TWO = `${ONE}  - id: two
    method: GET
    path: /two
    upstream: up
    access: protected
`;
  const two = (role: unknown) => replayed('GET', '/two', 'two', { role });

  it('remove a role that no request needed from auth.role.allow', async () => {
    const result = await tightenText(
      manifestOf(TWO),
      logText([used, two('admin'), two(['admin', 'user']), two('auditor')]),
    );
    expect(idsOf(result)).toEqual(['role/auth/user']);
    expect(textAfter(result)).toContain('allow: [admin, auditor]');
  });

  it('write the roles of a route that needs fewer than auth.role.allow has', async () => {
    const text = manifestOf(
      `${TWO}  - { id: three, method: GET, path: /three, upstream: up, access: protected, roles: [admin, user] }\n`,
    );
    const three = replayed('GET', '/three', 'three', { role: 'user' });
    const result = await tightenText(text, logText([used, two('admin'), two('auditor'), three]));
    expect(idsOf(result)).toEqual(['role/three', 'role/two']);
    expect(textAfter(result)).toContain('    access: protected\n    roles: [admin, auditor]\n');
    expect(textAfter(result)).toContain('roles: [user] }');
  });

  it('keep two roles if callers had both, and no other request needed one of them', async () => {
    const result = await tightenText(manifestOf(TWO), logText([used, two(['admin', 'user'])]));
    expect(textAfter(result)).toContain('allow: [admin, user]');
  });

  it('need the roles of every request', async () => {
    const result = await tightenText(manifestOf(TWO), logText([used, two('admin'), line('GET', '/two', 'two')]));
    expect(idsOf(result)).toEqual([]);
  });
});

describe('proposals for wildcards', () => {
  const DOCS = `  # Pages.
  - id: docs
    method: any # all
    path: /docs/**
    upstream: up
    access: protected
`;
  const get = (path: string, method = 'GET') => line(method, path, 'docs');

  it('name the paths that were requested, with parameters for identifiers', async () => {
    const lines = [
      get('/docs'),
      get('/docs/guide'),
      get('/docs/4711', 'PUT'),
      get('/docs/4712/'),
      get('/docs/77/pages/9f14e45f-ceea-467f-9575-7c3a1f2d9b10'),
    ];
    const result = await tightenText(manifestOf(DOCS), logText(lines));
    expect(textAfter(result)).toBe(
      manifestOf(`  # Pages.
  - id: docs
    method: GET # all
    path: /docs
    upstream: up
    access: protected

  - id: docs-guide
    method: GET # all
    path: /docs/guide
    upstream: up
    access: protected

  - id: docs-by-id
    method: [GET, PUT] # all
    path: "/docs/{id}"
    upstream: up
    access: protected

  - id: docs-by-id-pages-by-id
    method: GET # all
    path: "/docs/{id}/pages/{id2}"
    upstream: up
    access: protected
`)
        .replaceAll('"/docs/{id}"', '/docs/{id}')
        .replaceAll('"/docs/{id}/pages/{id2}"', '/docs/{id}/pages/{id2}'),
    );
  });

  it('keep the id of a wildcard with one form of paths, and write a parameter in place of many words', async () => {
    const words = ['intro', 'setup', 'usage', 'tests', 'rules', 'terms', 'about', 'index'];
    const result = await tightenText(manifestOf(DOCS), logText(words.map((word) => get(`/docs/${word}`))));
    expect(idsOf(result)).toEqual(['wildcard/docs']);
    expect(textAfter(result)).toContain('  - id: docs\n    method: GET # all\n    path: /docs/{name}\n');
  });

  it('count identifiers as one path, but no spelling of a word, which may become a literal', () => {
    const shapes = new PathShapes(loadText(manifestOf(DOCS)).plan);
    const shapeOf = (segment: string) => shapes.shapeOf(`/docs/${segment}`, false);
    expect(['4711', '%C3%A9%C3%A8', 'a%20', 'a;x', 'A'].map(shapeOf)).toEqual([
      '/docs/0',
      '/docs/0',
      '/docs/a%20',
      '/docs/a;x',
      '/docs/A',
    ]);
  });

  it('write no word of a keyed path, which may be a surrogate', async () => {
    const text = manifestOf(DOCS.replace('protected', 'public'));
    const result = await tightenText(text, logText([get('/docs/qwhzkpwbr'), get('/docs/api')]));
    expect(textAfter(result)).not.toContain('qwhzkpwbr');
    expect(textAfter(result)).toContain('path: /docs/api\n');
    expect(textAfter(result)).toContain('path: /docs/{id}\n');
  });

  it('write no identifier of a path', async () => {
    const secrets = [
      'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
      'jane.doe@mail.example',
      '9f14e45fceea467f95757c3a1f2d9b10',
      'AbCdEfGhIjKl',
      '2026-11-01',
    ];
    const result = await tightenText(manifestOf(DOCS), logText(secrets.map((secret) => get(`/docs/${secret}`))));
    expect(idsOf(result)).toEqual(['wildcard/docs']);
    for (const secret of secrets) expect(JSON.stringify(result.after)).not.toContain(secret);
  });

  it('keep a wildcard with many forms of paths, and one whose rate limit counts by route', async () => {
    const deep = Array.from({ length: 10 }, (_, depth) => get(`/docs${'/a'.repeat(depth)}`));
    expect(idsOf(await tightenText(manifestOf(DOCS), logText(deep)))).toEqual(['method/docs']);
    const limited = manifestOf(
      `${DOCS}    rateLimits: [each]\n`,
      `${HEAD}rateLimits: { each: { key: [client, route], allow: 5 per 1s } }\n`,
    );
    expect(idsOf(await tightenText(limited, logText([get('/docs/a'), get('/docs/b')])))).toEqual(['method/docs']);
  });
});

describe('proposals for other settings', () => {
  it('remove WebSockets that nobody opened, encoded slashes that nobody sent, and types that nobody sent', async () => {
    const text = manifestOf(`  - id: one
    method: [GET, POST]
    path: /one/{name}
    upstream: up
    access: protected
    # live
    websocket: true
    encodedSlash: keep
    body: { types: [text/csv, application/json, 'image/*'], maxBytes: 1KB }
`);
    const post = (members: Line) =>
      replayed('POST', '/one/a', 'one', { role: ['admin', 'user', 'auditor'], type: 'image/png', ...members });
    const result = await tightenText(text, logText([post({})]));
    expect(idsOf(result)).toEqual(['encoded-slash/one', 'method/one', 'type/one', 'websocket/one']);
    expect(idsOf(await tightenText(text, logText([post({})]), { only: ['method/one'] }))).toContain('websocket/one');
    expect(textAfter(result)).toContain("    access: protected\n    body: { types: ['image/*'], maxBytes: 1KB }\n");
    const kept = [
      post({ method: 'GET', status: 101 }),
      post({ path: '/one/a%2Fb', type: 'text/csv' }),
      post({ type: 'application/json' }),
    ];
    expect(idsOf(await tightenText(text, logText([...kept, post({})])))).toEqual([]);
  });

  it('enforce a rate limit that would have refused no request', async () => {
    const head = `${HEAD}rateLimits:\n  caller: { key: client, allow: 5 per 1s, mode: report, reportUntil: 2027-01-31 }\n`;
    const text = manifestOf(ONE.replace(' }', ', rateLimits: [caller] }'), head);
    expect(textAfter(await tightenText(text, logText([used])))).toContain(
      '  caller: { key: client, allow: 5 per 1s }\n',
    );
    const over = { ...used, reported: [{ code: 'rate_limit_exceeded', pointers: [], limit: 'caller' }] };
    expect(idsOf(await tightenText(text, logText([used, over])))).toEqual([]);
  });

  it('point to public routes whose requests all had a token', async () => {
    const bearer = replayed('GET', '/one', 'one', { credential: 'bearer' });
    expect((await tightenText(manifestOf(ONE), logText([bearer]))).hints).toMatchObject([{ route: 'one' }]);
    expect((await tightenText(manifestOf(ONE), logText([bearer, used]))).hints).toEqual([]);
  });
});

describe('a sampled log', () => {
  it('proposes nothing that needs the absence of requests, and its evidence counts each line by its weight', async () => {
    const text = manifestOf(
      `${ONE}  - { id: two, method: any, path: /two, upstream: up, access: public, websocket: true }\n`,
    );
    const log = logText([{ ...used, sampled: 0.1 }, line('GET', '/two', 'two', { sampled: 0.5 })]);
    const result = await tightenText(text, log);
    expect(idsOf(result)).toEqual(['websocket/two']);
    expect(result.proposals[0]?.proposal.evidence.requests).toBe(2);
    expect((await usageOf(loadText(text), log)).allowedEvidence.requests).toBe(12);
  });

  it('keeps routes without a line, and says why', async () => {
    const text = manifestOf(`${ONE}  - { id: two, method: GET, path: /two, upstream: up, access: public }\n`);
    const { kept } = await tightenText(text, logText([{ ...used, sampled: 0.1 }]));
    expect(kept).toEqual([
      { route: 'two', reason: 'the log has only a share of the requests, so its use may be missing' },
    ]);
  });
});

describe('evidence', () => {
  it('has the requests, the callers, the time and the logs of the route', async () => {
    const lines = ['a', 'b', 'a'].map((subject) => line('GET', '/one', 'one', { subject }));
    const { proposals } = await tightenText(
      manifestOf(ONE.replace('GET', 'any')),
      logText([...lines, line('GET', '/one', 'one')]),
    );
    expect(proposals[0]?.proposal.evidence).toEqual({
      requests: 4,
      callers: 3,
      hasMoreCallers: false,
      from: Date.UTC(2026, 0, 1),
      to: Date.UTC(2026, 0, 1, 0, 3),
      logs: ['access.log'],
    });
  });
});

describe('the text', () => {
  it('changes in the file that has the entry', async () => {
    const main = manifestOf(ONE, `${HEAD}include: more.yaml\n`);
    const more = `# Reports.\nroutes:\n  # a\n  - { id: a, method: GET, path: /a, upstream: up, access: public }\n\n  # b\n  - { id: b, method: any, path: /b, upstream: up, access: public }\n`;
    const result = await tightenText(main, logText([used, line('GET', '/b', 'b')]), { files: { 'more.yaml': more } });
    expect(result.proposals.map(({ proposal, file, range }) => [proposal.id, file, range.line])).toEqual([
      ['route/a', 'more.yaml', 4],
      ['method/b', 'more.yaml', 7],
    ]);
    expect(result.after.map(({ text }) => text)).toEqual([
      main,
      `# Reports.\nroutes:\n  # b\n  - { id: b, method: GET, path: /b, upstream: up, access: public }\n`,
    ]);
  });

  it('keeps an anchor as long as an alias needs it', async () => {
    const text = manifestOf(
      `  - { id: one, method: &methods [GET, POST], path: /one, upstream: up, access: public }\n  - { id: two, method: *methods, path: /two, upstream: up, access: public }\n`,
    );
    const result = await tightenText(text, logText([line('GET', '/two', 'two')]));
    expect(idsOf(result)).toEqual(['method/two', 'route/one']);
    expect(textAfter(result)).toBe(
      manifestOf('  - { id: two, method: [GET], path: /two, upstream: up, access: public }\n'),
    );
    expect(idsOf(await tightenText(text, logText([line('GET', '/two', 'two')]), { only: ['route/one'] }))).toEqual([
      'method/two',
      'route/one',
    ]);
  });

  it('keeps its own format if it is not that of fmt', async () => {
    const text = manifestOf(
      `${ONE}  - {id: two, method: GET,   path: /two, upstream: up, access: public}\n  - {id: three,  method: any, path: /three, upstream: up, access: public}\n`,
    );
    const result = await tightenText(text, logText([used, line('GET', '/three', 'three')]));
    expect(textAfter(result)).toBe(
      manifestOf(`${ONE}  - {id: three,  method: GET, path: /three, upstream: up, access: public}\n`),
    );
    expect(formatText(textAfter(result))).not.toBe(textAfter(result));
  });

  it('is JSON after the change of a manifest in JSON', async () => {
    const manifest = {
      version: 1,
      upstreams: { up: { url: 'http://127.0.0.1:9' }, old: { url: 'http://127.0.0.1:9' } },
      routes: [
        { id: 'old', method: 'GET', path: '/old', upstream: 'old', access: 'public' },
        { id: 'docs', method: 'any', path: '/docs/**', upstream: 'up', access: 'public' },
      ],
    };
    const result = await tightenText(
      JSON.stringify(manifest, null, 2),
      logText([line('GET', '/docs/a', 'docs'), line('PUT', '/docs/b', 'docs')]),
    );
    expect(JSON.parse(textAfter(result))).toEqual({
      version: 1,
      upstreams: { up: manifest.upstreams.up },
      routes: [
        { ...manifest.routes[1], id: 'docs-a', method: 'GET', path: '/docs/a' },
        { ...manifest.routes[1], id: 'docs-b', method: 'PUT', path: '/docs/b' },
      ],
    });
  });
});
