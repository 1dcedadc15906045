import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRequestTarget } from '../../src/engine/gateway/request/request-head.ts';
import { compileInvariants } from '../../src/engine/invariants/compile-invariants.ts';
import { proveInvariants } from '../../src/engine/invariants/prove.ts';
import { load, type PlannedManifest } from '../../src/engine/load.ts';
import type { Route } from '../../src/engine/plan/route-definition.ts';
import type { Finding } from '../../src/engine/problem/finding.ts';
import { foldLiteral, readPath } from '../../src/engine/routing/path-folding.ts';
import { type Pattern, parsePattern, patternKey } from '../../src/engine/routing/pattern.ts';
import { expectedDecision } from '../model/decisions/expected-decision.ts';
import type { ModelRequest } from '../model/decisions/model-request.ts';
import { runs } from '../support/runs.ts';

/** Few words, so that paths overlap. Some fold into others, and `x` is the sample of a parameter. */
const WORDS = ['a', 'b', 'A', 'x'];
/** The segments of requests: other spellings, dropped segments, ends of a path, and encoded slashes. */
const SEGMENTS = [...WORDS, 'a;p', 'B', 'zz', '...', '...;p', '%E2%80%8B', 'a%3Fx', '%3Fx', 'a%2Fb', 'zz%2Fa'];
const METHODS = ['GET', 'POST'];

const pathOf = (minLength: number) => {
  const word = fc.constantFrom(...WORDS);
  const segment = fc.oneof({ weight: 3, arbitrary: word }, { weight: 2, arbitrary: fc.constant('{}') });
  return fc.tuple(fc.array(segment, { minLength, maxLength: 3 }), fc.boolean()).map(([parts, hasRest]) => {
    const named = parts.map((text, index) => (text === '{}' ? `{p${index}}` : text));
    return `/${[...named, ...(hasRest ? ['**'] : [])].join('/')}`;
  });
};

const route = fc.record({
  path: pathOf(0),
  method: fc.constantFrom<unknown>('GET', 'POST', METHODS),
  access: fc.constantFrom('public', 'protected'),
  upstream: fc.constantFrom('one', 'two'),
  encodedSlash: fc.constantFrom('refuse', 'refuse', 'keep'),
});
const routes = fc.array(route, { minLength: 1, maxLength: 12 }).map((written) => {
  const existing = new Set<string>();
  return written.filter(({ path, method }) => {
    const requests = [method].flat().map((name) => `${name} ${patternKey(parsePattern(path))}`);
    if (requests.some((request) => existing.has(request))) return false;
    for (const request of requests) existing.add(request);
    return true;
  });
});

const invariant = fc.record({
  when: fc.record(
    {
      path: pathOf(1),
      method: fc.constantFrom(...METHODS),
      upstream: fc.constantFrom('one', 'two'),
      access: fc.constantFrom('public', 'protected'),
    },
    { requiredKeys: [] },
  ),
  require: fc.constantFrom<object>(
    { served: false },
    { access: 'protected' },
    { access: 'public' },
    { upstream: { only: ['one'] } },
  ),
});

/** Every path of at most two segments that the gateway accepts. More segments find nothing more. */
const PATHS = pathsUpTo(2).filter((path) => {
  try {
    return readRequestTarget(path, undefined, true).path === path;
  } catch {
    return false;
  }
});

function pathsUpTo(maxLength: number): string[] {
  const byLength = [['']];
  for (let length = 1; length <= maxLength; length += 1)
    byLength.push((byLength[length - 1] ?? []).flatMap((before) => SEGMENTS.map((text) => `${before}/${text}`)));
  return ['/', ...byLength.slice(1).flat()];
}

interface WrittenInvariant {
  readonly when: { path?: string; method?: string; upstream?: string; access?: string };
  readonly require: { served?: false; access?: string; upstream?: { only: string[] } };
}

/** The definition of an invariant, written once more. */
function breaks({ when, require }: WrittenInvariant, method: string, path: string, found: Route): boolean {
  const methods = when.method === 'GET' ? ['GET', 'HEAD'] : [when.method ?? method];
  if (!methods.includes(method) || (when.access ?? found.access) !== found.access) return false;
  if ((when.upstream ?? found.upstream?.id) !== found.upstream?.id) return false;
  if (when.path !== undefined && !isRead(path, parsePattern(when.path), found)) return false;
  if (require.served === false) return true;
  if (require.access !== undefined) return found.access !== require.access;
  return require.upstream?.only.includes(found.upstream?.id ?? '') === false;
}

const readings = new Map<string, string[]>();

function isRead(path: string, pattern: Pattern, { keepsEncodedSlash }: Route): boolean {
  if (matches(pattern, path)) return true;
  const key = `${keepsEncodedSlash} ${path}`;
  let read = readings.get(key);
  if (read === undefined) {
    const slashed = keepsEncodedSlash ? [path, path.replaceAll(/%2f/gi, '/')] : [path];
    read = slashed.flatMap((one) => readPath(one)?.written ?? []);
    readings.set(key, read);
  }
  const folded = pattern.map(foldLiteral);
  return read.some((one) => matches(folded, one));
}

function matches(pattern: Pattern, path: string): boolean {
  const source = pattern
    .map((segment) => {
      if (segment.kind === 'rest') return '(?:/.*)?';
      return segment.kind === 'parameter' ? '/[^/]+' : `/${RegExp.escape(segment.text)}`;
    })
    .join('');
  return new RegExp(`^${source}/?$`).test(path);
}

interface ServedRequest {
  readonly method: string;
  readonly path: string;
  readonly route: Route;
}

/** Returns the requests to which the model gives a route. HEAD follows GET unless a route has it alone, and no route here has. */
function servedRequests({ manifest, plan }: PlannedManifest): ServedRequest[] {
  const routes = new Map(plan.routes.map((one) => [one.id, one]));
  return METHODS.flatMap((method) =>
    PATHS.flatMap((path) => {
      const found = routes.get(expectedDecision(manifest, { ...REQUEST, method, target: path }).route ?? '');
      return found === undefined ? [] : [{ method, path, route: found }];
    }),
  );
}

const REQUEST: ModelRequest = {
  method: 'GET',
  target: '/',
  headers: [['Host', 'gateway.test']],
  caller: 'none',
  isValidParameter: () => true,
  isValidBody: () => true,
};

function readManifest(written: readonly object[], invariants: readonly object[]): PlannedManifest {
  const text = JSON.stringify({
    version: 1,
    upstreams: { one: { url: 'http://127.0.0.1:1' }, two: { url: 'http://127.0.0.1:2' } },
    auth: {
      tokens: { jwt: { jwks: 'https://a/keys', algorithms: ['ES256'], issuer: 'i', audience: 'a' } },
      role: { claim: '/role', allow: ['user'], message: 'no' },
    },
    routes: written.map((rest, index) => ({ id: `r${index}`, ...rest })),
  });
  const loaded = load({ path: 'g', text }, { env: {}, readFile: () => '' });
  if (loaded.plan === undefined) throw new Error(loaded.problems.map(({ message }) => message).join('\n'));
  const manifest = { ...loaded.manifest, invariants: invariants.map((one, index) => ({ id: `i${index}`, ...one })) };
  return { ...loaded, manifest: manifest as PlannedManifest['manifest'] };
}

describe('the prover', () => {
  test('finds a request for each route that breaks an invariant, and none for any other', () => {
    fc.assert(
      fc.property(routes, fc.array(invariant, { minLength: 1, maxLength: 4 }), (written, invariants) => {
        const planned = readManifest(written, invariants);
        const { manifest, plan } = planned;
        const findings: Finding[] = [];
        const proofs = proveInvariants(compileInvariants(manifest, findings), manifest, plan);
        expect(findings).toEqual([]);
        const requests = servedRequests(planned);
        for (const [index, { violations, undecided }] of proofs.entries()) {
          const one = invariants[index] as WrittenInvariant;
          for (const { witness, route: broken } of violations) {
            const { path } = readRequestTarget(witness.path, undefined, plan.router.keepsEncodedSlash);
            const found = plan.router.match(witness.method, path);
            expect([found?.id, breaks(one, witness.method, path, found as Route)]).toEqual([broken.id, true]);
          }
          const reported = new Set(violations.map(({ route: { id } }) => id));
          const missed = requests.find(
            ({ method, path, route: found }) => !reported.has(found.id) && breaks(one, method, path, found),
          );
          expect([one, undecided.map(({ id }) => id), missed]).toEqual([one, [], undefined]);
        }
      }),
      { numRuns: runs(1_000) },
    );
  });

  const MANY = '/{p0}/raw/files/files/projects/a/projects/files/**';
  test.each([
    [
      ['* /{p0}/a/{p2}/{p3}/**', '/raw/projects', '/blob/{p1}/blob/files/raw/files/projects/**'],
      '/blob/{p1}/blob/files/raw/files/projects/**',
      [],
    ],
    [['* /{p0}/{p1}/{p2}/a/**', '/{p0}/{p1}/**', '/raw/files/{p2}/**'], MANY, []],
    [
      [
        '* /raw/raw/raw/{p0}/{p1}/{p2}/raw/files/**',
        '/{p0}/{p1}/raw/**',
        '* /files/{p0}/{p1}/raw/files/{p2}/{p3}/{p4}/**',
        '/raw/{p0}/files/{p1}',
        '/{p0}/{p1}/raw/raw/raw/files/{p2}/files/files/{p3}/**',
      ],
      '/{p0}/{p1}/raw/raw/raw/files/{p2}/files/files/{p3}/**',
      ['r0'],
    ],
  ])('decides about routes that keep encoded slashes and overlap: %j', (marked, path, broken) => {
    const written = marked.map((one) => ({
      path: one.replace('* ', ''),
      method: 'GET',
      upstream: 'one',
      access: one.startsWith('*') ? 'public' : 'protected',
      encodedSlash: 'keep',
    }));
    const when = { path };
    const { manifest, plan } = readManifest(written, [{ when, require: { access: 'protected' } }]);
    const [proof] = proveInvariants(compileInvariants(manifest, []), manifest, plan);
    expect([proof?.violations.map(({ route }) => route.id), proof?.undecided]).toEqual([broken, []]);
  });
});
