import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { load, type PlannedManifest } from '../../../src/engine/load.ts';
import { createMemoryEnvironment } from '../../../src/engine/manifest/source.ts';
import { parseLogLine } from '../../../src/traffic/access-log/logged-request.ts';
import { createReplay, type ReplayReport } from '../../../src/traffic/replay/replay.ts';

const UUID = '0b8ba9a2-6c1c-4c2e-9d55-8d2c1a1f7a10';

const MANIFEST = {
  version: 1,
  log: { replay: true },
  upstreams: { up: { url: 'http://127.0.0.1:9' }, other: { url: 'http://127.0.0.1:8' } },
  auth: {
    tokens: {
      jwt: { jwks: 'https://id.test/jwks', algorithms: ['ES256'], issuer: 'https://id.test', audience: 'api' },
    },
    role: { claim: '/role', allow: ['admin', 'user'], message: 'admins and users only' },
  },
  rateLimits: { few: { key: 'client', allow: '5 per 1m' } },
  routes: [
    { id: 'contacts', method: 'GET', path: '/contacts', upstream: 'up', access: 'protected' },
    { id: 'download', method: 'GET', path: '/downloads/{token}', upstream: 'up', access: 'public' },
    { id: 'limited', method: 'GET', path: '/limited', upstream: 'up', access: 'public', rateLimits: ['few'] },
    { id: 'login', method: 'POST', path: '/login', upstream: 'up', access: 'public', login: { token: '/token' } },
  ],
};
type AnyManifest = typeof MANIFEST & { routes: (Record<string, unknown> & { id: string })[] };

/** Loads the manifest with changes. */
function plan(change: (manifest: AnyManifest) => void = () => undefined): PlannedManifest {
  const manifest = structuredClone(MANIFEST) as AnyManifest;
  change(manifest);
  const loaded = load({ path: 'gateway.yaml', text: stringify(manifest) }, createMemoryEnvironment({}, {}));
  if (loaded.plan === undefined) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  return loaded;
}

const routeOf = ({ routes }: AnyManifest, id: string) =>
  routes.find((route) => route.id === id) as Record<string, unknown>;

const OLD = plan();
const COMMON = { level: 30, time: 1, msg: 'request', id: 'a', method: 'GET', peer: '10.0.0.1' };
const FACTS = { manifest: OLD.plan.hash.slice(0, 16), query: [], credential: 'none' };
const FORWARDED = { upstream: 'up', status: 200, gatewayMs: 1 };
const CALLER = { credential: 'bearer', subject: 'a', role: 'user' };
const contacts = { ...COMMON, ...FACTS, ...FORWARDED, ...CALLER, path: '/contacts', route: 'contacts' };
const download = { ...COMMON, ...FACTS, ...FORWARDED, path: `/downloads/${UUID}`, route: 'download' };
const limited = { ...COMMON, ...FACTS, ...FORWARDED, path: '/limited', route: 'limited' };
const login = {
  ...COMMON,
  ...FACTS,
  ...FORWARDED,
  method: 'POST',
  path: '/login',
  route: 'login',
  role: 'user',
  subject: 'a',
};
const refused = (code: string, status: number) => ({ gatewayMs: undefined, status, refusal: code, reason: code });

function replay(lines: readonly object[], next: PlannedManifest, old = OLD): ReplayReport {
  const replayed = createReplay(old, next);
  for (const [index, line] of lines.entries()) {
    const request = parseLogLine(JSON.stringify(line), 'access.log', index + 1);
    if (!('line' in request)) throw new Error(request.reason);
    replayed.add(request);
  }
  return replayed.report();
}

/** Returns the result of one line: `same`, a kind of change, or `unknown` with its reason. */
function resultOf(line: object, next: PlannedManifest, old = OLD): string {
  const { same, unknown, changed } = replay([line], next, old).comparison;
  if (same > 0) return 'same';
  return [...changed.keys(), ...[...unknown.keys()].map((reason) => `unknown ${reason}`)].join();
}

describe('the replay of a log', () => {
  it('knows the responses of the gateway itself', () => {
    const withRoutes = (...added: object[]) => plan(({ routes }) => void routes.push(...(added as typeof routes)));
    const moved = { id: 'moved', method: 'GET', path: '/old/**', access: 'public' };
    const old = withRoutes({ ...moved, redirect: { to: '/new/{rest}' } });
    const line = {
      ...COMMON,
      ...FACTS,
      manifest: old.plan.hash.slice(0, 16),
      status: 307,
      path: '/old/a',
      route: 'moved',
    };
    const resultFor = (next: PlannedManifest) => {
      const { calibration, comparison } = replay([line], next, old);
      expect(calibration.same).toBe(1);
      return [...comparison.changed.keys()].join() || (comparison.same === 1 ? 'same' : 'unknown');
    };
    expect(resultFor(old)).toBe('same');
    expect(resultFor(withRoutes({ ...moved, redirect: { to: '/{rest}', status: 307 } }))).toBe('other-status');
    expect(resultFor(withRoutes({ ...moved, redirect: { to: '/new/{rest}', query: 'keep' } }))).toBe('other-status');
    expect(resultFor(withRoutes({ ...moved, respond: {} }))).toBe('other-status');
    const withServer = (server: object, route: object) =>
      plan((manifest) => Object.assign(manifest, { server }).routes.push({ ...moved, ...route }));
    const redirect = { to: '/new/{rest}' };
    const server = { responseHeaders: { 'X-A': 'a' } };
    expect(resultFor(withServer(server, { redirect }))).toBe('other-status');
    expect(resultFor(withServer(server, { redirect, responseHeaders: { remove: ['X-A'] } }))).toBe('same');
    expect(resultFor(withRoutes({ ...moved, upstream: 'up' }))).toBe('other-status');
    expect(resultFor(withRoutes({ ...moved, access: 'protected', respond: {} }))).toBe('newly-refused');
  });

  it('weights sampled lines, and counts distinct callers', () => {
    const next = plan((manifest) => Object.assign(routeOf(manifest, 'contacts'), { roles: ['admin'] }));
    const lines = [
      contacts,
      { ...contacts, sampled: 0.25 },
      { ...contacts, subject: 'b' },
      { ...contacts, role: 'admin' },
    ];
    const { comparison, calibration } = replay(lines, next);
    expect(calibration).toMatchObject({ requests: 7, same: 7 });
    expect(comparison).toMatchObject({ requests: 7, same: 1, changed: new Map([['newly-refused', 6]]) });
    expect(comparison.groups).toEqual([expect.objectContaining({ requests: 6, callers: 2 })]);
    expect(comparison.groups[0]?.witnesses.map(({ line }) => line)).toEqual([1, 2, 3]);
  });

  it('knows the result of any role, and no result if a role is required later', () => {
    const any = plan((manifest) => Object.assign(manifest.auth, { role: 'any' }));
    const line = { ...contacts, manifest: any.plan.hash.slice(0, 16), role: undefined };
    expect(replay([line], any, any).comparison.same).toBe(1);
    expect(
      replay([{ ...contacts, ...refused('role_not_allowed', 403), role: 'other' }], any).comparison.changed,
    ).toEqual(new Map([['newly-allowed', 1]]));
    const back = [line, { ...login, manifest: line.manifest, role: undefined }];
    expect(replay(back, OLD, any).comparison.unknown).toEqual(new Map([['role', 2]]));
  });

  it('does not compare a line that the old manifest does not reproduce', () => {
    const lines = [
      contacts,
      { ...contacts, route: 'removed' },
      { ...contacts, credential: 'none' },
      { ...contacts, path: '/no' },
    ];
    const { calibration, comparison } = replay(lines, OLD);
    expect(calibration.changed).toEqual(
      new Map([
        ['other-route', 1],
        ['newly-refused', 2],
      ]),
    );
    expect(comparison).toMatchObject({ same: 1, unknown: new Map([['not-reproduced', 3]]) });
  });

  it('names the other manifests that wrote lines, and counts lines without facts', () => {
    const bare = { ...contacts, manifest: undefined, credential: undefined, role: undefined, query: undefined };
    const { otherManifests, linesWithoutFacts } = replay(
      [contacts, { ...contacts, manifest: 'aa' }, bare, bare, { ...bare, method: undefined }],
      OLD,
    );
    expect(otherManifests).toEqual([{ hash: 'aa', lines: 1, first: { source: 'access.log', line: 2 } }]);
    expect(linesWithoutFacts).toBe(2);
  });

  it('does not know a route if a surrogate may stand for a literal of it', () => {
    const withRoute = (path: string) =>
      plan(({ routes }) =>
        routes.push({ id: 'added', method: 'GET', path, upstream: 'up', access: 'public' } as never),
      );
    expect(resultOf(download, withRoute('/downloads/latest'))).toBe('unknown path');
    expect(resultOf(download, withRoute('/downloads/{token}/{page}'))).toBe('same');
    expect(resultOf({ ...download, path: '/downloads/me' }, withRoute('/downloads/latest'))).toBe('same');
    const plain = plan((manifest) => Object.assign(manifest.log, { paths: 'plain' }));
    expect(replay([download], withRoute('/downloads/latest'), plain).comparison.same).toBe(1);
  });

  it('does not validate a surrogate', () => {
    const next = plan((manifest) =>
      Object.assign(routeOf(manifest, 'download'), {
        params: { properties: { token: { type: 'string', maxLength: 3 } } },
      }),
    );
    expect(resultOf(download, next)).toBe('unknown path');
    // The line says that its path has surrogates, although the old manifest would not write them.
    const plain = plan((manifest) => Object.assign(manifest.log, { paths: 'plain' }));
    const unknownOf = (line: object) => [...replay([line], next, plain).comparison.unknown.keys()];
    expect(unknownOf({ ...download, keyed: true })).toEqual(['path']);
    expect(unknownOf(download)).toEqual([]);
  });

  it('uses the roles of the log', () => {
    const next = (roles: readonly string[], allow = ['admin', 'user']) =>
      plan((manifest) => {
        manifest.auth.role.allow = allow;
        Object.assign(routeOf(manifest, 'contacts'), { roles });
      });
    expect(resultOf(contacts, next(['user']))).toBe('same');
    expect(resultOf(contacts, next(['admin']))).toBe('newly-refused');
    const other = { ...contacts, ...refused('role_not_allowed', 403), role: 'other' };
    expect(resultOf(other, next(['admin']))).toBe('same');
    expect(resultOf(other, next(['guest'], ['guest', 'user']))).toBe('unknown role');
    // A claim that is no list has one role.
    expect(resultOf(contacts, next(['guest'], ['guest', 'user']))).toBe('newly-refused');
    expect(resultOf({ ...contacts, manifest: undefined, role: undefined }, next(['admin']))).toBe('unknown not-logged');
  });

  it('does not know a token that was not verified', () => {
    const next = plan((manifest) => Object.assign(routeOf(manifest, 'download'), { access: 'protected' }));
    expect(resultOf(download, next)).toBe('newly-refused');
    expect(resultOf({ ...download, credential: 'bearer' }, next)).toBe('unknown token');
    expect(resultOf({ ...download, credential: undefined, manifest: undefined }, next)).toBe('unknown not-logged');
  });

  describe('of several issuers', () => {
    const methods = [MANIFEST.auth, { ...MANIFEST.auth, role: { ...MANIFEST.auth.role, claim: '/scope' } }];
    const tokens = methods.map(({ tokens: { jwt }, role }, index) => ({
      ...{ name: ['staff', 'partners'][index], role },
      jwt: { ...jwt, issuer: `https://${index}.test` },
    }));
    const withRoute = (more: object, others: readonly object[] = []) =>
      plan((manifest) => {
        Object.assign(manifest.auth, { tokens: [...tokens, ...others] });
        Object.assign(routeOf(manifest, 'contacts'), { issuers: ['staff', 'partners'], ...more });
      });
    const old = withRoute({});
    const line = { ...contacts, manifest: old.plan.hash.slice(0, 16), issuer: 'partners' };
    const resultBy = (next: PlannedManifest, more: object = {}) => resultOf({ ...line, ...more }, next, old);

    it('uses the roles of the issuer that accepted the token', () => {
      expect(resultBy(old)).toBe('same');
      expect(resultBy(old, { ...refused('role_not_allowed', 403), role: 'other' })).toBe('same');
      expect(resultBy(withRoute({ roles: ['admin'] }))).toBe('newly-refused');
      expect(resultBy(withRoute({ roles: ['user'] }))).toBe('same');
      expect(resultBy(withRoute({ roles: ['admin'] }), { issuer: undefined })).toBe('unknown role');
    });

    it('knows that a token of a removed issuer is refused, and one of another issuer is not', () => {
      const staffOnly = withRoute({ issuers: ['staff'] });
      expect(resultBy(staffOnly)).toBe('newly-refused');
      expect(resultBy(staffOnly, { issuer: 'staff' })).toBe('same');
      expect(resultBy(staffOnly, { issuer: undefined })).toBe('unknown token');
    });

    it('knows the tokens that stay refused', () => {
      const wrong = { ...refused('token_invalid', 401), issuer: undefined, role: undefined };
      const [staff, both] = [withRoute({ issuers: ['staff'] }), withRoute({})];
      expect(resultOf({ ...line, ...wrong, reason: 'issuer_wrong' }, staff, both)).toBe('same');
      expect(resultOf({ ...line, ...wrong, reason: 'issuer_wrong' }, both, staff)).toBe('unknown token');
      expect(resultOf({ ...line, ...wrong, reason: 'token_expired' }, both, staff)).toBe('same');
      expect(resultOf({ ...line, ...wrong, reason: 'token_expired' }, staff, both)).toBe('unknown token');
    });

    it('reports the unused roles of methods that have roles', () => {
      const mixed = plan((manifest) => {
        Object.assign(manifest.auth, { tokens: [tokens[0], { ...tokens[1], role: 'any' }] });
        Object.assign(routeOf(manifest, 'contacts'), { issuers: ['staff', 'partners'] });
      });
      const lines = [
        { ...line, issuer: 'staff' },
        { ...line, role: undefined },
      ];
      expect(replay(lines, mixed, mixed).unused.roles).toEqual({ contacts: ['admin'] });
    });

    it('knows no token of methods that changed, and those of a route that accepts no new one', () => {
      const jwt = { ...MANIFEST.auth.tokens.jwt, issuer: 'https://more.test' };
      expect(resultBy(withRoute({}, [{ name: 'more', jwt }]))).toBe('same');
      expect(resultBy(withRoute({ issuers: ['partners', 'more'] }, [{ name: 'more', jwt }]))).toBe('unknown token');
    });
  });

  it('knows the role of the token in the response of a login service', () => {
    const next = plan((manifest) => Object.assign(routeOf(manifest, 'login'), { roles: ['admin'] }));
    expect(resultOf(login, next)).toBe('newly-refused');
    expect(resultOf({ ...login, role: 'admin' }, next)).toBe('same');
    expect(resultOf({ ...login, role: undefined, subject: undefined }, next)).toBe('same');
    const elsewhere = plan((manifest) => Object.assign(routeOf(manifest, 'login'), { login: { header: 'X-Token' } }));
    expect(resultOf(login, elsewhere)).toBe('unknown login-response');
  });

  it('knows what a gateway did whose upstream failed, but not what a busy one would have done', () => {
    const failed = { ...contacts, status: 502, refusal: 'upstream_error', reason: 'upstream_econnreset' };
    expect(resultOf(failed, OLD)).toBe('same');
    expect(resultOf({ ...contacts, ...refused('gateway_busy', 503) }, OLD)).toBe('unknown no-decision');
    expect(resultOf({ ...contacts, gatewayMs: undefined, status: undefined, aborted: true }, OLD)).toBe(
      'unknown client-left',
    );
  });

  it('does not know which handshake had a body, unless all routes accept the same ones', () => {
    const line = {
      ...COMMON,
      ...FACTS,
      status: 400,
      refusal: 'message_malformed',
      reason: 'handshake_with_body',
      kind: 'websocket',
    };
    expect(resultOf(line, OLD)).toBe('same');
    const next = plan((manifest) => Object.assign(routeOf(manifest, 'limited'), { websocket: true }));
    expect(resultOf(line, next)).toBe('unknown head');
  });

  describe('with rate limits', () => {
    const exceeded = { ...limited, ...refused('rate_limit_exceeded', 429), limit: 'few' };
    const another = { peer: '10.0.0.2' };

    it('takes the decisions of a limit whose counters stay the same', () => {
      const next = plan((manifest) => Object.assign(routeOf(manifest, 'contacts'), { roles: ['admin'] }));
      expect(replay([limited, exceeded, contacts], next).comparison).toMatchObject({ same: 2 });
    });

    it('notices that a refusal has other headers', () => {
      const next = plan((manifest) => Object.assign(manifest, { server: { rateLimitHeaders: 'draft-11' } }));
      expect([resultOf(exceeded, next), resultOf(limited, next)]).toEqual(['other-status', 'same']);
    });

    it('does not know the decisions of a limit with another rate', () => {
      const next = plan((manifest) => {
        manifest.rateLimits.few.allow = '6 per 1m';
      });
      expect(replay([limited, exceeded], next).comparison.unknown).toEqual(new Map([['rate-limit', 2]]));
    });

    it('does not know later decisions about a client whose other requests are now counted too', () => {
      const next = plan((manifest) => Object.assign(routeOf(manifest, 'download'), { rateLimits: ['few'] }));
      const { comparison } = replay([limited, download, { ...limited, ...another }], next);
      expect(comparison).toMatchObject({ same: 1, unknown: new Map([['rate-limit', 2]]) });
    });

    it('still knows that a request passes if fewer requests are counted', () => {
      const old = plan((manifest) => Object.assign(routeOf(manifest, 'download'), { rateLimits: ['few'] }));
      expect(replay([limited, download], OLD, old).comparison.same).toBe(2);
      // A request that is no longer refused is counted, and may be the reason why a later one is refused.
      const { comparison } = replay([limited, exceeded, download], OLD, old);
      expect(comparison).toMatchObject({ same: 1, unknown: new Map([['rate-limit', 2]]) });
    });

    it('knows which requests a limit refuses that has only reported', () => {
      const old = plan((manifest) => Object.assign(manifest.rateLimits.few, { mode: 'report' }));
      const reported = { ...limited, reported: [{ code: 'rate_limit_exceeded', pointers: [], limit: 'few' }] };
      const { comparison } = replay([limited, reported], OLD, old);
      expect(comparison).toMatchObject({ same: 1, changed: new Map([['newly-refused', 1]]) });
    });
  });

  it('reads lines with any members', () => {
    const members = ['constructor', '__proto__', '', '/%ff', '*'];
    const lines = members.flatMap((text) =>
      ['method', 'route', 'refusal', 'reason', 'limit', 'manifest', 'role'].map((name) => ({
        ...contacts,
        [name]: text,
      })),
    );
    const replayed = createReplay(OLD, OLD);
    for (const line of lines) {
      const request = parseLogLine(JSON.stringify(line), 'access.log', 1);
      if ('line' in request) replayed.add(request);
    }
    expect(replayed.report().lines).toBeGreaterThan(20);
  });
});
