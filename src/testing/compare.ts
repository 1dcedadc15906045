import { isDeepStrictEqual } from 'node:util';
import type { OfflineOutcome } from '../offline/offline-gateway.ts';
import type { Plan } from '../plan/plan.ts';
import type { Expectation, ExpectedHeaders, ExpectedUpstream, TestCase } from './test-file.generated.ts';

/** Something that became otherwise than expected. */
export interface Mismatch {
  /** The member of `expect`, as a path: `['upstream', 'url']`. */
  readonly path: readonly string[];
  readonly expected: unknown;
  /** `undefined`: there is none. */
  readonly actual: unknown;
}

/** What a case expects, held to what came of it. */
export function compareOutcome(expected: Expectation, outcome: OfflineOutcome, plan: Plan): Mismatch[] {
  const { logEntry, response, upstreamRequest } = outcome;
  const route = plan.routes.find(({ id }) => id === logEntry.route);
  const found: Mismatch[] = [];
  const look = (path: string[], wanted: unknown, actual: unknown) => {
    if (wanted !== undefined && !isDeepStrictEqual(wanted, actual)) found.push({ path, expected: wanted, actual });
  };
  if (logEntry.refusal !== expected.refusal)
    found.push({ path: ['refusal'], expected: expected.refusal, actual: refusalText(outcome) });
  look(['reason'], expected.reason, logEntry.reason);
  look(['reported'], expected.reported?.toSorted(), (logEntry.reported ?? []).map(({ code }) => code).sort());
  look(['message'], expected.message, problemOf(outcome).message);
  look(['errors'], expected.errors?.toSorted(), pointersOf(outcome));
  look(['status'], expected.status, response?.status);
  look(['route'], expected.route, logEntry.route ?? null);
  found.push(...compareHeaders(['headers'], expected.headers, response?.headers ?? []));
  look(['body'], expected.body, expected.body && bodyAs(expected.body, response?.body));
  if (expected.upstream === null)
    look(['upstream'], null, upstreamRequest === undefined ? null : upstreamRequest.origin + upstreamRequest.url);
  else if (expected.upstream !== undefined)
    found.push(...compareUpstream(expected.upstream, upstreamRequest, route?.upstream.id));
  return found;
}

function compareUpstream(
  expected: ExpectedUpstream,
  received: OfflineOutcome['upstreamRequest'],
  id: string | undefined,
): Mismatch[] {
  if (received === undefined) return [{ path: ['upstream'], expected, actual: null }];
  const url = expected.url?.startsWith('/') ? received.url : received.origin + received.url;
  const members = { id, url, method: received.method, body: expected.body && bodyAs(expected.body, received.body) };
  const mismatches = Object.entries(members).flatMap(([name, got]) => {
    const wanted = expected[name as keyof typeof members];
    return wanted === undefined || isDeepStrictEqual(wanted, got)
      ? []
      : [{ path: ['upstream', name], expected: wanted, actual: got }];
  });
  return [...mismatches, ...compareHeaders(['upstream', 'headers'], expected.headers, received.headers)];
}

function compareHeaders(at: readonly string[], expected: ExpectedHeaders = {}, headers: readonly string[]): Mismatch[] {
  return Object.entries(expected).flatMap(([name, wanted]) => {
    const got = valuesOf(headers, name);
    const values = wanted === null ? [] : [wanted].flat();
    if (isDeepStrictEqual(values, got)) return [];
    return [{ path: [...at, name], expected: wanted, actual: got.length > 1 ? got : (got[0] ?? null) }];
  });
}

function valuesOf(headers: readonly string[], name: string): string[] {
  const folded = name.toLowerCase();
  return headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === folded);
}

/** A body in the form in which it is expected: as the value of its JSON, or as text. */
function bodyAs(expected: NonNullable<TestCase['request']['body']>, body: Buffer | undefined): unknown {
  const text = body?.toString();
  if (typeof expected === 'string' || text === undefined) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The refusal, and what the log and the answer add to it. */
function refusalText(outcome: OfflineOutcome): string | undefined {
  const { refusal, reason } = outcome.logEntry;
  const more = [...(reason === refusal ? [] : [reason]), ...pointersOf(outcome)];
  return more.length === 0 ? refusal : `${refusal} (${more.join(', ')})`;
}

/** Where the request's body is at fault. */
function pointersOf(outcome: OfflineOutcome): string[] {
  return (problemOf(outcome).errors ?? []).map(({ pointer }) => pointer).sort();
}

interface ProblemDetails {
  readonly message?: string;
  readonly errors?: readonly { readonly pointer: string }[];
}

/** What the gateway answered in place of the upstream (RFC 9457). */
function problemOf({ logEntry, response }: OfflineOutcome): ProblemDetails {
  if (logEntry.refusal === undefined || response === undefined) return {};
  return JSON.parse(response.body.toString() || '{}');
}
