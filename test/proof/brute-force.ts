import { isDeepStrictEqual } from 'node:util';
import { readRequestTarget } from '../../src/engine/gateway/request/request-target.ts';
import type { DiffRequest } from '../../src/prove/diff/difference.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import { createOfflineSide, type SendOptions, type SideOutcome } from '../../src/prove/proof/offline-side.ts';

/** The segments of requests: literals of the manifests, other spellings, hidden slashes and ends of paths. */
const SEGMENTS = ['a', 'b', 'A', 'x', 'zz', 'B', 'a;p', 'a%3Fx', 'b%2Fa'];
const SHORT = ['a', 'b', 'A', 'zz', 'a%3Fx'];
const METHODS = ['GET', 'POST', 'HEAD', 'OPTIONS'];
const ROLES = [undefined, 'admin', 'user', 'guest'];
const JSON_TYPE = ['Content-Type', 'application/json'];
const CONTENTS: readonly Partial<DiffRequest>[] = [
  {},
  ...[
    '{}',
    '{"n":1}',
    '{"n":7}',
    '{"n":"t"}',
    '"t"',
    '{"n":1,"m":1}',
    '{"n":1,"m":12345678}',
    '{"n":1,"m":"1234567890123"}',
  ].map((body) => ({ body, headers: JSON_TYPE })),
  { bodyBytes: 15, headers: ['Content-Type', 'text/plain'] },
  { bodyBytes: 25, headers: ['Content-Type', 'text/plain'] },
  { bodyBytes: 35, headers: ['Content-Type', 'text/plain'] },
];
const QUERIES = ['?q=1', '?q=7', '?q=x', '?q=y'];
const SENDINGS: readonly SendOptions[] = [
  { repetition: { times: 3, waitMs: 0 } },
  { repetition: { times: 4, waitMs: 0 } },
  { repetition: { times: 3, waitMs: 40_000 } },
];

const PATHS = [
  '/',
  ...SEGMENTS.map((one) => `/${one}`),
  ...SEGMENTS.flatMap((one) => SEGMENTS.map((two) => `/${one}/${two}`)),
  ...SHORT.flatMap((one) => SHORT.flatMap((two) => SHORT.map((three) => `/${one}/${two}/${three}`))),
];

/** The result of all requests of the alphabet with two manifests. */
export interface BruteForce {
  /** A request that only the new manifest serves, or that it sends elsewhere. */
  readonly opened: readonly [DiffRequest, SendOptions] | undefined;
  /** A request that the manifests treat differently. */
  readonly changed: readonly [DiffRequest, SendOptions] | undefined;
}

/** Sends all requests of the alphabet to two manifests. Of the paths of two routes, the first ones stand for all. */
export async function bruteForce(old: DiffSide, next: DiffSide): Promise<BruteForce> {
  const [before, now] = [createOfflineSide(old), createOfflineSide(next)];
  const hasLimits = [old, next].some(({ routes }) => routes.some(({ entry }) => entry.rateLimits !== undefined));
  let opened: BruteForce['opened'];
  let changed: BruteForce['changed'];
  for (const request of requestsFor(old, next))
    for (const sending of hasLimits && isPlain(request) ? [{}, ...SENDINGS] : [{}]) {
      const [was, is] = [await before(request, sending), await now(request, sending)];
      if (opens(was, is)) opened ??= [request, sending];
      if (!isDeepStrictEqual(was.seen, is.seen)) changed ??= [request, sending];
      if (opened !== undefined && changed !== undefined) return { opened, changed };
    }
  return { opened, changed };
}

function opens(was: SideOutcome, is: SideOutcome): boolean {
  return is.isServed && (!was.isServed || was.target !== is.target);
}

/** True for the requests that are repeated. */
function isPlain({ body, bodyBytes, url, method }: DiffRequest): boolean {
  return (
    method !== 'HEAD' && (body === undefined || body === '{"n":1}') && bodyBytes === undefined && !/q=[7xy]/.test(url)
  );
}

/** The paths that stand for those of two routes. */
const MAX_PATHS = 2;

function* requestsFor(old: DiffSide, next: DiffSide): Generator<DiffRequest> {
  const counts = new Map<string, number>();
  for (const method of METHODS)
    for (const path of PATHS) {
      const ids = [old, next].map((side) => routeOf(side, method, path));
      const key = [method, ...ids].join(' ');
      const count = counts.get(key) ?? 0;
      if (ids[1] === undefined && ids[0] === undefined) continue;
      if (count >= MAX_PATHS) continue;
      counts.set(key, count + 1);
      yield* requestsTo({ method, url: path }, count === 0 ? CONTENTS : CONTENTS.slice(0, 3));
    }
}

/** Yields a request with each caller, and with contents and queries of the two callers that most routes let through. */
function* requestsTo(request: DiffRequest, contents: typeof CONTENTS): Generator<DiffRequest> {
  for (const role of ROLES) {
    const own = { ...request, ...(role !== undefined && { role }) };
    yield own;
    if (role === 'user' || role === 'guest' || request.method === 'HEAD' || request.method === 'OPTIONS') continue;
    for (const query of QUERIES) yield { ...own, url: request.url + query };
    if (request.method === 'POST') for (const content of contents) yield { ...own, ...content };
  }
}

function routeOf({ plan }: DiffSide, method: string, path: string): string | undefined {
  try {
    readRequestTarget(path, undefined, plan.router.keepsEncodedSlash);
  } catch {
    return undefined;
  }
  return plan.router.match(method, path)?.id;
}
