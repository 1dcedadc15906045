import { isDeepStrictEqual } from 'node:util';
import type { DiffRequest } from '../../src/prove/diff/difference.ts';
import type { DiffSide } from '../../src/prove/diff/side.ts';
import type { SendOptions } from '../../src/prove/proof/offline-side.ts';
import { type DecidedOutcome, type Decider, modelDecision } from './model-side.ts';

/** The segments of requests: literals of the manifests, other spellings, hidden slashes and ends of paths. */
const SEGMENTS = ['a', 'b', 'A', 'x', 'zz', 'B', 'a;p', 'a%3Fx', 'b%2Fa'];
const SHORT = ['a', 'A', 'zz', 'a%3Fx'];
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
/** The ways to send a request that show the rate limits of the manifests. */
export const SENDINGS: readonly SendOptions[] = [3, 4].flatMap((times) =>
  [0, 25_000, 40_000, 1_900_000].map((waitMs) => ({ repetition: { times, waitMs } })),
);

const ONE = ['/', ...SEGMENTS.map((one) => `/${one}`)];
const PATHS = [
  ...ONE,
  ...SEGMENTS.flatMap((one) => SEGMENTS.map((two) => `/${one}/${two}`)),
  ...SHORT.flatMap((one) => SHORT.flatMap((two) => SHORT.map((three) => `/${one}/${two}/${three}`))),
];

/** A request, and its outcome with each manifest. */
export interface ComparedRequest {
  readonly request: unknown;
  readonly before: DecidedOutcome;
  readonly now: DecidedOutcome;
}

/** The result of many requests with two manifests. */
export interface BruteForce {
  /** A request that only the new manifest serves, or that it sends elsewhere. */
  readonly opened: ComparedRequest | undefined;
  /** A request that the manifests treat differently. */
  readonly changed: ComparedRequest | undefined;
}

/**
 * Sends all requests of the alphabet to two manifests. Of the paths of two routes, the first ones stand for all.
 *
 * @param sendings in how many ways a request is repeated: none without rate limits
 */
export async function* compareAlphabet(
  [old, next]: readonly [DiffSide, DiffSide],
  [before, now]: readonly [Decider, Decider],
  sendings: readonly SendOptions[] = [],
): AsyncGenerator<ComparedRequest> {
  const hasLimits = [old, next].some(({ routes }) => routes.some(({ entry }) => entry.rateLimits !== undefined));
  for (const request of requestsFor(old, next))
    for (const sending of hasLimits && isPlain(request) ? [{}, ...sendings] : [{}])
      yield {
        request: { ...request, ...sending },
        before: await before(request, sending),
        now: await now(request, sending),
      };
}

/** Returns the first requests that contradict a proof. */
export async function bruteForce(compared: AsyncIterable<ComparedRequest>): Promise<BruteForce> {
  let opened: ComparedRequest | undefined;
  let changed: ComparedRequest | undefined;
  for await (const one of compared) {
    if (opens(one.before, one.now)) opened ??= one;
    if (!isDeepStrictEqual(one.before.seen, one.now.seen)) changed ??= one;
    if (opened !== undefined && changed !== undefined) break;
  }
  return { opened, changed };
}

/** True for a new access. A response of the gateway itself, in place of one of an upstream, is none. */
export function opens(was: DecidedOutcome, is: DecidedOutcome): boolean {
  return is.isServed && (!was.isServed || (is.target !== '' && was.target !== is.target));
}

/** Returns the ways to send the request of a difference: those that show a rate limit count requests of others too. */
export function sendingsOf(rule: string, request: DiffRequest, { routes }: DiffSide): readonly SendOptions[] {
  if (!rule.startsWith('rate-limit-')) return [{}];
  const urls = routes.map(({ route: { path } }) => path.replaceAll(/\{\w+\}|\*\*/g, 'zz'));
  const firsts: DiffRequest[] = [
    request,
    { ...request, peer: 'other' },
    { ...request, token: { ...request.token, sub: 'other' } },
    ...urls.flatMap((url) => METHODS.map((method) => ({ ...request, method, url }))),
  ];
  return firsts.flatMap((first) => SENDINGS.map((sending) => ({ ...sending, first })));
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
    for (const url of method === 'GET' || method === 'POST' ? PATHS : ONE) {
      const ids = [old, next].map((side) => modelDecision(side, { method, url }).route);
      const key = [method, ...ids].join(' ');
      const count = counts.get(key) ?? 0;
      if ((ids[0] === undefined && ids[1] === undefined) || count >= MAX_PATHS) continue;
      counts.set(key, count + 1);
      yield* requestsTo({ method, url }, count === 0 ? CONTENTS : CONTENTS.slice(0, 3));
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
