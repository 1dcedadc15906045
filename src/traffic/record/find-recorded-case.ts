import { isDeepStrictEqual } from 'node:util';
import type { RefusalCode } from '../../engine/gateway/response/refusal.ts';
import type { RunCase } from '../../prove/mutation/missing-case.ts';
import type { Probe, TestedRoute } from '../../prove/mutation/mutant.ts';
import { withRequest } from '../../prove/mutation/probes.ts';
import type { OfflineOutcome } from '../../prove/offline/offline-gateway.ts';
import type { Expectation, TestCase } from '../../prove/testing/test-file.generated.ts';
import { baseProbes, type RecordContext, withLimitKeys } from './base-probes.ts';
import type { Observation } from './observation.ts';
import { loginResponses, refusedProbes } from './refused-probes.ts';
import { unroutedProbes } from './unrouted-probes.ts';

/** The number of requests with their repetitions, so that a rate limit that cannot be reached takes no minutes. */
const MAX_SENT = 5_000;
/** The requests of a route that a search begins with. */
const MAX_BASES = 6;

interface SearchSettings {
  /** The status of the upstream's response, if the request was forwarded. */
  readonly status: number;
  readonly maxProbes: number;
}

/** Finds a test case that has the observed result. */
export async function findRecordedCase(
  observation: Observation,
  { status, maxProbes }: SearchSettings,
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
  const { tested, isMatched } = observation;
  if (tested === undefined || !isMatched) return yield* unroutedProbes(observation, record);
  const bases = baseProbes({ ...observation, tested }, record).take(MAX_BASES);
  for (const base of bases) yield* routedProbes(base, { ...observation, tested }, status, record);
}

type RoutedObservation = Observation & { readonly tested: TestedRoute };

function* routedProbes(
  base: Probe,
  observation: RoutedObservation,
  status: number,
  record: RecordContext,
): Generator<Probe> {
  const { tested, role, result } = observation;
  if (result.kind === 'refused') return yield* refusedProbes(result.code, base, { ...result, tested, role }, record);
  if (result.kind !== 'forwarded') return;
  const login = tested.entry.login === undefined || role === undefined ? undefined : record.tokens.ofRole(role);
  const requests = [...loginResponses(base, tested, login), base];
  for (const request of requests)
    for (const probe of reportedProbes(request, result.reported as readonly RefusalCode[], observation, record))
      yield withStatus(probe, status);
}

/** Yields requests that may have all of these violations. */
function* reportedProbes(
  base: Probe,
  [code, ...others]: readonly RefusalCode[],
  { tested, role }: Pick<RoutedObservation, 'tested' | 'role'>,
  record: RecordContext,
): Generator<Probe> {
  if (code === undefined) {
    yield base;
    return yield* withLimitKeys(base, tested, record.context);
  }
  const facts = { tested, role, reason: code, limit: undefined };
  for (const probe of refusedProbes(code, base, facts, record)) yield* reportedProbes(probe, others, facts, record);
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
