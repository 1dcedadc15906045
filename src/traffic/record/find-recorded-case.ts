import { isDeepStrictEqual } from 'node:util';
import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { MutationContext } from '../../prove/mutation/context.ts';
import type { RunCase } from '../../prove/mutation/missing-case.ts';
import type { Probe } from '../../prove/mutation/mutant.ts';
import { loginResponses, withRequest } from '../../prove/mutation/probes.ts';
import type { OfflineOutcome } from '../../prove/offline/offline-gateway.ts';
import { HANDSHAKE } from '../../prove/offline/request-bytes.ts';
import type { Expectation, TestCase } from '../../prove/testing/test-file.generated.ts';
import { baseProbes, otherSpellings, type RecordContext, unknownPath, withLimitKeys } from './base-probes.ts';
import type { Observation } from './observe-requests.ts';
import { type RefusedObservation, refusedProbes } from './refused-probes.ts';

/** The number of requests with their repetitions, so that a rate limit that cannot be reached takes no minutes. */
const MAX_SENT = 5_000;
/** The requests of a route that a search begins with. */
const MAX_BASES = 6;

/** Finds a test case that has the observed result. `status` is that of the upstream's response, if the request was forwarded. */
export async function findRecordedCase(
  observation: Observation,
  status: number,
  maxProbes: number,
  record: RecordContext,
  run: RunCase,
): Promise<TestCase | undefined> {
  const expect = expectationOf(observation, status);
  let sent = 0;
  for (const probe of probesOf(observation, status, record).take(maxProbes)) {
    sent += probe.request.times;
    if (sent > MAX_SENT) return undefined;
    const testCase = { name: '-', ...probe, expect };
    const { mismatches, outcome } = await run(testCase);
    const { refusal } = outcome.record;
    if (mismatches.length > 0 || !hasResult(outcome, observation)) continue;
    const isStopped = refusal !== undefined && outcome.upstreamRequest === undefined;
    return isStopped ? { ...testCase, expect: { ...expect, upstream: null } } : testCase;
  }
  return undefined;
}

function* probesOf(observation: Observation, status: number, record: RecordContext): Generator<Probe> {
  const { tested, isMatched, role, issuer, result } = observation;
  if (tested === undefined || !isMatched) return yield* unroutedProbes(observation, record);
  const login = tested.entry.login === undefined || role === undefined ? undefined : record.tokens.ofRole(role, issuer);
  for (const base of baseProbes({ ...observation, tested }, record).take(MAX_BASES)) {
    if (result.kind === 'refused') yield* refusedProbes(result.code, base, { ...result, tested, role, issuer }, record);
    if (result.kind !== 'forwarded') continue;
    const reported = result.reported as readonly RefusalCode[];
    for (const request of [...loginResponses(base, tested, login), base])
      for (const probe of reportedProbes(request, reported, { tested, role, issuer }, record))
        yield withStatus(probe, status);
  }
}

/** Yields requests that may have all of these violations. */
function* reportedProbes(
  base: Probe,
  [code, ...others]: readonly RefusalCode[],
  caller: Pick<RefusedObservation, 'tested' | 'role' | 'issuer'>,
  record: RecordContext,
): Generator<Probe> {
  if (code === undefined) {
    yield base;
    return yield* withLimitKeys(base, caller.tested, record.context);
  }
  const facts = { ...caller, reason: code, limit: undefined };
  for (const probe of refusedProbes(code, base, facts, record)) yield* reportedProbes(probe, others, caller, record);
}

/** Returns the request with another status of the upstream's response. A test case cannot switch protocols. */
function withStatus(probe: Probe, status: number): Probe {
  if (status < 200 || (status === 200 && probe.response === undefined)) return probe;
  return { ...withRequest(probe, {}), response: { headers: {}, ...probe.response, status } };
}

function expectationOf({ tested, isMatched, result }: Observation, status: number): Expectation {
  const route = isMatched ? (tested?.entry.id ?? null) : null;
  if (result.kind === 'refused')
    return { route, refusal: result.code, ...(result.reason !== result.code && { reason: result.reason }) };
  if (result.kind !== 'forwarded') return { route, status: 204, upstream: null };
  const reported = result.reported as NonNullable<Expectation['reported']>;
  return {
    route,
    ...(status === 101 ? { upstream: { headers: { Upgrade: 'websocket' } } } : { status }),
    ...(reported.length > 0 && { reported }),
  };
}

/** True if a request has the observed result also in the facts that a test case does not expect. */
function hasResult({ record, principals }: OfflineOutcome, { result, tested, role }: Observation): boolean {
  const { refusal, reported = [] } = record;
  if (result.kind === 'refused')
    return refusal?.reason === result.reason && (result.limit === undefined || refusal.limit === result.limit);
  if (result.kind !== 'forwarded') return true;
  const codes = reported.map(({ code }) => code).sort();
  // The role of a login is that of the token in the response, which a status without a body does not have.
  const hasRole = tested?.route.login === undefined || role === undefined || principals.length > 0;
  return hasRole && isDeepStrictEqual(codes, result.reported);
}

/** Yields requests that no route receives: the gateway refuses them, or responds to them itself. */
function unroutedProbes(observation: Observation, record: RecordContext): Iterable<Probe> {
  const { result, method } = observation;
  const request = (url: string, headers: Probe['request']['headers'] = {}) => ({
    request: { method, url, headers, times: 1 },
  });
  if (result.kind === 'server-options') return [request('*')];
  if (result.kind === 'preflight')
    return pathsNear(observation, record).map((url) => request(url, preflightHeaders(record.context)));
  if (result.kind !== 'refused') return [];
  if (result.code === 'method_not_allowed') {
    const { routes, samplePaths } = record.context;
    return [...pathsNear(observation, record), ...otherSpellings(routes, samplePaths)].map((url) => request(url));
  }
  if (result.code === 'route_unknown') {
    const url = unknownPath(record.unknownPath, record.context);
    return url === undefined ? [] : [request(url), request(url, preflightHeaders(record.context))];
  }
  return [
    ...MALFORMED_URLS.map((url) => request(url)),
    ...encodedSlashes(record).map((url) => request(url)),
    ...MALFORMED_HEADERS.map((headers) => request('/x', headers)),
    { request: { ...request('/x').request, method: 'UNKNOWN' } },
  ];
}

function pathsNear({ tested }: Observation, { pathsOf }: RecordContext): string[] {
  return tested === undefined ? [] : [...pathsOf(tested)];
}

/** Returns paths with an encoded slash. Those of routes that keep such a slash are not refused. */
function encodedSlashes({ context, pathsOf }: RecordContext): string[] {
  const paths = context.routes.slice(0, MAX_ROUTES).flatMap((tested) => pathsOf(tested).slice(-1));
  return [...paths, '/x/x/x', '/x/x/x/x/x'].map((path) => path.replace(/(?<=.)\/(?=[^/]*$)/, '%2F'));
}

const MAX_ROUTES = 30;

function preflightHeaders({ manifest }: MutationContext) {
  const [origin = '*'] = manifest.cors?.origins ?? [];
  return { Origin: origin === '*' ? 'https://app.example' : origin, 'Access-Control-Request-Method': 'GET' };
}

/** Request targets that are refused, one for each reason. */
const MALFORMED_URLS = [
  '/x//x',
  '/x/../x',
  '/%78',
  '/[',
  '/%ff',
  '/x%2Fx',
  '/x#',
  '/x x',
  '*',
  'x',
  'http://other.example/x',
];

/** Headers that are refused, one for each reason. */
const MALFORMED_HEADERS: readonly Probe['request']['headers'][] = [
  { Host: 'a,b' },
  { 'Content-Type': ['text/plain', 'text/plain'] },
  { 'Transfer-Encoding': 'gzip' },
  { 'Content-Length': '+1' },
  { Expect: 'x' },
  { ...HANDSHAKE, 'Content-Length': '1' },
];
