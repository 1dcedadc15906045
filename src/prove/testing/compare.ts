import { isDeepStrictEqual } from 'node:util';
import type { Plan } from '../../engine/plan/plan.ts';
import type { OfflineOutcome } from '../offline/offline-gateway.ts';
import type { Expectation, ExpectedHeaders, ExpectedUpstream, TestCase } from './test-file.generated.ts';

export interface Mismatch {
  /** The member of `expect`, as a path: `['upstream', 'url']`. */
  readonly path: readonly string[];
  readonly expected: unknown;
  /** `undefined` if the outcome does not have the member. */
  readonly actual: unknown;
}

export function compareOutcome(expected: Expectation, outcome: OfflineOutcome, plan: Plan): Mismatch[] {
  const { record, response, upstreamRequest } = outcome;
  const { refusal, reported = [] } = record;
  const route = plan.routes.find(({ id }) => id === record.route?.id);
  const mismatches: Mismatch[] = [];
  const compare = (path: string[], wanted: unknown, actual: unknown) => {
    if (wanted !== undefined && !isDeepStrictEqual(wanted, actual)) mismatches.push({ path, expected: wanted, actual });
  };
  if (refusal?.code !== expected.refusal)
    mismatches.push({ path: ['refusal'], expected: expected.refusal, actual: refusalText(outcome) });
  compare(['reason'], expected.reason, refusal?.reason);
  compare(['reported'], expected.reported?.toSorted(), reported.map(({ code }) => code).sort());
  compare(['message'], expected.message, problemOf(outcome).message);
  compare(['errors'], expected.errors?.toSorted(), pointersOf(outcome));
  compare(['status'], expected.status, response?.status);
  compare(['route'], expected.route, route?.id ?? null);
  mismatches.push(...compareHeaders(['headers'], expected.headers, response?.headers ?? []));
  compare(['body'], expected.body, expected.body && bodyAs(expected.body, response?.body));
  if (expected.upstream === null)
    compare(['upstream'], null, upstreamRequest === undefined ? null : upstreamRequest.origin + upstreamRequest.url);
  else if (expected.upstream !== undefined)
    mismatches.push(...compareUpstream(expected.upstream, upstreamRequest, route?.upstream?.id));
  return mismatches;
}

function compareUpstream(
  expected: ExpectedUpstream,
  received: OfflineOutcome['upstreamRequest'],
  id: string | undefined,
): Mismatch[] {
  if (received === undefined) return [{ path: ['upstream'], expected, actual: null }];
  const url = expected.url?.startsWith('/') ? received.url : received.origin + received.url;
  const members = { id, url, method: received.method, body: expected.body && bodyAs(expected.body, received.body) };
  const mismatches = Object.entries(members).flatMap(([name, actual]): Mismatch[] => {
    const wanted = expected[name as keyof typeof members];
    if (wanted === undefined || isDeepStrictEqual(wanted, actual)) return [];
    return [{ path: ['upstream', name], expected: wanted, actual }];
  });
  return [...mismatches, ...compareHeaders(['upstream', 'headers'], expected.headers, received.headers)];
}

function compareHeaders(at: readonly string[], expected: ExpectedHeaders = {}, headers: readonly string[]): Mismatch[] {
  return Object.entries(expected).flatMap(([name, wanted]) => {
    const actual = valuesOf(headers, name);
    const values = wanted === null ? [] : [wanted].flat();
    if (isDeepStrictEqual(values, actual)) return [];
    return [{ path: [...at, name], expected: wanted, actual: actual.length > 1 ? actual : (actual[0] ?? null) }];
  });
}

/** Returns the values of a header. @param headers alternating names and values */
export function valuesOf(headers: readonly string[], name: string): string[] {
  const folded = name.toLowerCase();
  return headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === folded);
}

/** Returns a body in the form of the expected one: as a JSON value or as text. */
function bodyAs(expected: NonNullable<TestCase['request']['body']>, body: Buffer | undefined): unknown {
  const text = body?.toString();
  if (typeof expected === 'string' || text === undefined) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Returns the refusal code with the reason and the pointers of its violations. */
function refusalText(outcome: OfflineOutcome): string | undefined {
  const { refusal } = outcome.record;
  if (refusal === undefined) return undefined;
  const { code, reason } = refusal;
  const details = [...(reason === code ? [] : [reason]), ...pointersOf(outcome)];
  return details.length === 0 ? code : `${code} (${details.join(', ')})`;
}

/** Returns the pointers of the violations in the response. */
function pointersOf(outcome: OfflineOutcome): string[] {
  return (problemOf(outcome).errors ?? []).map(({ pointer }) => pointer).sort();
}

/** Parses the problem details that the client receives (RFC 9457). */
export function problemOf({ record, response }: OfflineOutcome): { message?: string; errors?: { pointer: string }[] } {
  if (record.refusal === undefined || response === undefined) return {};
  return JSON.parse(response.body.toString() || '{}');
}
