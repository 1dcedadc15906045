import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '../offline/offline.ts';
import type { Plan } from '../plan/plan.ts';
import type { Case, Expect, ExpectedHeaders, ExpectedUpstream } from './suite.generated.ts';

/** Something that became otherwise than expected. */
export interface Mismatch {
  /** The member of `expect`, as a path: `['upstream', 'url']`. */
  readonly at: readonly string[];
  readonly expected: unknown;
  /** `undefined`: there is none. */
  readonly got: unknown;
}

/** What a case expects, held to what came of it. */
export function compare(expected: Expect, outcome: Outcome, plan: Plan): Mismatch[] {
  const { decision, answer, received } = outcome;
  const route = plan.routes.find(({ id }) => id === decision.route);
  const found: Mismatch[] = [];
  const look = (at: string[], wanted: unknown, got: unknown) => {
    if (wanted !== undefined && !isDeepStrictEqual(wanted, got)) found.push({ at, expected: wanted, got });
  };
  if (decision.refusal !== expected.refusal)
    found.push({ at: ['refusal'], expected: expected.refusal, got: refusalText(outcome) });
  look(['reason'], expected.reason, decision.reason);
  look(['reported'], expected.reported?.toSorted(), (decision.reported ?? []).map(({ code }) => code).sort());
  look(['message'], expected.message, problemOf(outcome).message);
  look(['errors'], expected.errors?.toSorted(), pointersOf(outcome));
  look(['status'], expected.status, answer?.status);
  look(['route'], expected.route, decision.route ?? null);
  found.push(...compareHeaders(['headers'], expected.headers, answer?.headers ?? []));
  look(['body'], expected.body, expected.body && bodyAs(expected.body, answer?.body));
  if (expected.upstream === null)
    look(['upstream'], null, received === undefined ? null : received.origin + received.url);
  else if (expected.upstream !== undefined)
    found.push(...compareUpstream(expected.upstream, received, route?.upstream.id));
  return found;
}

function compareUpstream(
  expected: ExpectedUpstream,
  received: Outcome['received'],
  id: string | undefined,
): Mismatch[] {
  if (received === undefined) return [{ at: ['upstream'], expected, got: null }];
  const url = expected.url?.startsWith('/') ? received.url : received.origin + received.url;
  const members = { id, url, method: received.method, body: expected.body && bodyAs(expected.body, received.body) };
  const mismatches = Object.entries(members).flatMap(([name, got]) => {
    const wanted = expected[name as keyof typeof members];
    return wanted === undefined || isDeepStrictEqual(wanted, got)
      ? []
      : [{ at: ['upstream', name], expected: wanted, got }];
  });
  return [...mismatches, ...compareHeaders(['upstream', 'headers'], expected.headers, received.headers)];
}

function compareHeaders(at: readonly string[], expected: ExpectedHeaders = {}, headers: readonly string[]): Mismatch[] {
  return Object.entries(expected).flatMap(([name, wanted]) => {
    const got = valuesOf(headers, name);
    const values = wanted === null ? [] : [wanted].flat();
    if (isDeepStrictEqual(values, got)) return [];
    return [{ at: [...at, name], expected: wanted, got: got.length > 1 ? got : (got[0] ?? null) }];
  });
}

function valuesOf(headers: readonly string[], name: string): string[] {
  const folded = name.toLowerCase();
  return headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === folded);
}

/** A body in the form in which it is expected: as the value of its JSON, or as text. */
function bodyAs(expected: NonNullable<Case['request']['body']>, body: Buffer | undefined): unknown {
  const text = body?.toString();
  if (typeof expected === 'string' || text === undefined) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The refusal, and what the log and the answer add to it. */
function refusalText(outcome: Outcome): string | undefined {
  const { refusal, reason } = outcome.decision;
  const more = [...(reason === refusal ? [] : [reason]), ...pointersOf(outcome)];
  return more.length === 0 ? refusal : `${refusal} (${more.join(', ')})`;
}

/** Where the request's body is at fault. */
function pointersOf(outcome: Outcome): string[] {
  return (problemOf(outcome).errors ?? []).map(({ pointer }) => pointer).sort();
}

interface ProblemDetails {
  readonly message?: string;
  readonly errors?: readonly { readonly pointer: string }[];
}

/** What the gateway answered in place of the upstream (RFC 9457). */
function problemOf({ decision, answer }: Outcome): ProblemDetails {
  if (decision.refusal === undefined || answer === undefined) return {};
  return JSON.parse(answer.body.toString() || '{}');
}
