import type { Case, Verdict } from './corpus/case.ts';
import type { Lane, LaneResult } from './lane.ts';
import { REQUEST_LINE, readStrictly, type StrictHead, strictValues, UnreadableError } from './strict.ts';

interface Expectation {
  /** The allowed statuses. `CLOSED`: the connection may close without a response. Empty: no response is expected. */
  readonly statuses: readonly number[];
  /** How much of the request the upstream may receive. `beginning` includes nothing. */
  readonly upstream: 'nothing' | 'beginning' | 'complete' | 'any';
  readonly mustClose: boolean;
}

const CLOSED = 0;
const REFUSED = { upstream: 'nothing', mustClose: false } as const;

/** The definition of each verdict. */
export const VERDICTS: Readonly<Record<Verdict, Expectation>> = {
  '400': { statuses: [400], upstream: 'nothing', mustClose: true },
  '400-or-closed': { statuses: [400, CLOSED], upstream: 'nothing', mustClose: true },
  '400-in-body': { statuses: [400, 431], upstream: 'beginning', mustClose: true },
  forwarded: { statuses: [200], upstream: 'complete', mustClose: false },
  'forwarded-or-refused': { statuses: [200, 400, 405, 411, 413, 415, 417, 431], upstream: 'any', mustClose: false },
  '200-by-gateway': { ...REFUSED, statuses: [200, 204] },
  '401': { ...REFUSED, statuses: [401] },
  '401-or-400': { ...REFUSED, statuses: [401, 400] },
  '401-or-closed': { ...REFUSED, statuses: [401, CLOSED] },
  '403': { ...REFUSED, statuses: [403] },
  '404': { ...REFUSED, statuses: [404] },
  '404-or-401': { ...REFUSED, statuses: [404, 401] },
  '405': { ...REFUSED, statuses: [405] },
  '405-or-400': { ...REFUSED, statuses: [405, 400] },
  '405-or-closed': { ...REFUSED, statuses: [405, CLOSED], mustClose: true },
  '413': { ...REFUSED, statuses: [413] },
  '415': { ...REFUSED, statuses: [415] },
  '417': { ...REFUSED, statuses: [417] },
  '417-or-forwarded': { statuses: [417, 200], upstream: 'any', mustClose: false },
  '431': { statuses: [431], upstream: 'nothing', mustClose: true },
  '505-or-400': { statuses: [505, 400], upstream: 'nothing', mustClose: true },
  unfinished: { statuses: [], upstream: 'beginning', mustClose: false },
};

export type Tokens = Readonly<Record<'token' | 'guest', string>>;

/** Runs a case and returns a description of each violation. */
export async function checkCase(lane: Lane, template: Case, tokens: Tokens): Promise<string[]> {
  const testCase = JSON.parse(
    JSON.stringify(template).replaceAll(/\{\{(token|guest)\}\}/g, (_, name: keyof Tokens) => tokens[name]),
  ) as Case;
  const verdicts = typeof testCase.expect === 'string' ? [testCase.expect] : testCase.expect;
  const sent = parseRequests(testCase);
  const expectations = verdicts.map((verdict) => VERDICTS[verdict]);
  const withResponse = expectations.filter(({ statuses }) => statuses.length > 0);
  const methods = withResponse.map((_, index) => methodOf(sent[index]?.line ?? ''));
  const mustClose = expectations.at(-1)?.mustClose === true;
  const result = await lane.exchange(testCase.bytes, { methods, mustClose });
  return [
    ...result.errors,
    ...clientErrors(testCase, withResponse, result),
    ...upstreamErrors(testCase, expectations, sent, result),
    ...result.requests.flatMap(headerErrors),
    ...(testCase.removedHeaders?.flatMap((name) =>
      result.requests.filter((head) => strictValues(head, name).length > 0).map(() => `${name} was forwarded`),
    ) ?? []),
    ...missingHeaders(testCase.forwardedHeaders ?? [], result.requests),
  ];
}

/** Compares header names in lower case because the client library writes some of them itself. */
function missingHeaders(lines: readonly string[], requests: readonly StrictHead[]): string[] {
  const normalize = (line: string) => line.replace(/^[^:]*/, (name) => name.toLowerCase());
  const forwarded = new Set(
    requests.flatMap(({ headers }) => headers.map(([name, value]) => normalize(`${name}: ${value}`))),
  );
  return requests.length === 0
    ? []
    : lines.filter((line) => !forwarded.has(normalize(line))).map((line) => `${line} was not forwarded`);
}

function clientErrors(
  { expectsContinue = false }: Case,
  expectations: readonly Expectation[],
  result: LaneResult,
): string[] {
  const errors: string[] = [];
  const { responses, interimStatuses, isClosed, extraBytes } = result;
  for (const [index, { statuses }] of expectations.entries()) {
    const status = responses[index]?.status ?? (isClosed ? CLOSED : 'nothing');
    if (!statuses.some((allowed) => allowed === status))
      errors.push(
        `the response was ${status === CLOSED ? 'a closed connection' : status}, not ${statuses.join(' or ')}`,
      );
  }
  if (expectations.at(-1)?.mustClose === true && !isClosed) errors.push('the connection was not closed');
  if (extraBytes !== '') errors.push(`surplus bytes for the client: ${JSON.stringify(extraBytes.slice(0, 200))}`);
  const mayContinue = expectations.some(({ upstream }) => upstream === 'any');
  const isAsExpected =
    interimStatuses.length === 0
      ? !expectsContinue
      : interimStatuses.join() === '100' && (expectsContinue || mayContinue);
  if (!isAsExpected) errors.push(`interim responses: ${interimStatuses.join() || 'none'}`);
  for (const response of responses) {
    if (response.status < 400) continue;
    const isProblem = response.value('content-type') === 'application/problem+json';
    if (!isProblem && response.body.length > 0) errors.push('a refusal without application/problem+json');
  }
  return errors;
}

/** Returns errors if the upstream received anything except the requests that the verdicts allow. */
function upstreamErrors(
  testCase: Case,
  expectations: readonly Expectation[],
  sent: readonly SentRequest[],
  { requests, abortedRequests, responses }: LaneResult,
): string[] {
  const show = ({ line, body }: SentRequest) =>
    `${line} with ${body === undefined ? 'a body that the case must define' : JSON.stringify(body.toString('latin1'))}`;
  const complete: string[] = [];
  const beginnings: string[] = [];
  for (const [index, { upstream }] of expectations.entries()) {
    const expected = expectedUpstream(testCase, sent[index]);
    const isForwarded = upstream === 'complete' || (upstream === 'any' && responses[index]?.status === 200);
    if (expected !== undefined && isForwarded) complete.push(show(expected));
    if (expected !== undefined && upstream !== 'nothing') beginnings.push(expected.line);
  }
  const errors: string[] = [];
  const got = requests.map(show);
  if (got.toSorted().join('\n') !== complete.toSorted().join('\n'))
    errors.push(`the upstream received ${JSON.stringify(got)}, not ${JSON.stringify(complete)}`);
  for (const { line } of abortedRequests)
    if (!beginnings.includes(line)) errors.push(`the upstream received the beginning of ${line}`);
  return errors;
}

function expectedUpstream(
  { forwardedTarget: target, forwardedBody: body }: Case,
  sent: SentRequest | undefined,
): SentRequest | undefined {
  if (sent === undefined) return undefined;
  const [method, sentTarget] = sent.line.split(' ').filter(Boolean);
  return {
    line: `${method} ${target ?? sentTarget} HTTP/1.1`,
    body: body === undefined ? sent.body : Buffer.from(body, 'latin1'),
  };
}

/** Returns violations of the rules for the headers of every forwarded request. */
function headerErrors(head: StrictHead): string[] {
  const errors: string[] = [];
  const expectOne = (name: string, pattern: RegExp) => {
    const values = strictValues(head, name);
    if (values.length !== 1 || !pattern.test(values[0] ?? ''))
      errors.push(`forwarded ${name}: ${JSON.stringify(values)}`);
  };
  expectOne('host', /^[^,\s@/]+$/);
  expectOne('x-forwarded-for', /^127\.0\.0\.1$/);
  expectOne('x-forwarded-proto', /^http$/);
  expectOne('x-request-id', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  for (const [name, value] of head.headers) {
    if (/evil/.test(value)) errors.push(`the upstream received ${name}: ${value}`);
    if (/^(?:te|trailer|upgrade|keep-alive|proxy-connection|http2-settings|expect)$/i.test(name))
      errors.push(`${name} was forwarded`);
    if (/^connection$/i.test(name) && !/^(?:keep-alive|close)$/i.test(value))
      errors.push(`forwarded connection: ${value}`);
  }
  return errors;
}

/** A request as the client sent it. `body` is undefined if its framing is invalid. */
interface SentRequest {
  readonly line: string;
  readonly body: Buffer | undefined;
}

/** Parses the requests in the bytes of a case. The last one may be invalid. */
function parseRequests({ bytes }: Case): SentRequest[] {
  let rest = Buffer.from(typeof bytes === 'string' ? bytes : bytes.join(''), 'latin1');
  const requests: SentRequest[] = [];
  try {
    while (rest.length > 0) {
      const { message } = readStrictly(rest, { line: REQUEST_LINE, unframed: 'no body' });
      if (message === undefined) break;
      requests.push(message);
      rest = rest.subarray(message.size);
    }
  } catch (error) {
    if (!(error instanceof UnreadableError)) throw error;
  }
  const line = rest.toString('latin1').trimStart().split('\r\n')[0] ?? '';
  return rest.length === 0 ? requests : [...requests, { line, body: undefined }];
}

function methodOf(line: string): string {
  return line.split(' ')[0] ?? '';
}
