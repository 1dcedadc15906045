import type { Case, Verdict } from './corpus/case.ts';
import type { Lane, Played } from './lane.ts';
import { REQUEST_LINE, readStrictly, type StrictHead, strictValues, Unreadable } from './strict.ts';

interface Meaning {
  /** What the client may be answered; `CUT`: the connection may close instead; none: no answer is awaited. */
  readonly statuses: readonly number[];
  /** What the upstream gets: nothing, the beginning of the request at most, the whole request, or any of these. */
  readonly upstream: 'nothing' | 'beginning' | 'whole' | 'any';
  readonly closes: boolean;
}

const CUT = 0;
const REFUSED = { upstream: 'nothing', closes: false } as const;

/** What each verdict means. */
export const VERDICTS: Readonly<Record<Verdict, Meaning>> = {
  R400: { statuses: [400], upstream: 'nothing', closes: true },
  'R400-or-cut': { statuses: [400, CUT], upstream: 'nothing', closes: true },
  'R400-body': { statuses: [400, 431], upstream: 'beginning', closes: true },
  FWD: { statuses: [200], upstream: 'whole', closes: false },
  'framed-or-refused': { statuses: [200, 400, 405, 411, 413, 415, 417, 431], upstream: 'any', closes: false },
  '200-here': { ...REFUSED, statuses: [200, 204] },
  '401': { ...REFUSED, statuses: [401] },
  '401-or-400': { ...REFUSED, statuses: [401, 400] },
  '401-or-cut': { ...REFUSED, statuses: [401, CUT] },
  '403': { ...REFUSED, statuses: [403] },
  '404': { ...REFUSED, statuses: [404] },
  '404-or-401': { ...REFUSED, statuses: [404, 401] },
  '405': { ...REFUSED, statuses: [405] },
  '405-or-400': { ...REFUSED, statuses: [405, 400] },
  '405-or-cut': { ...REFUSED, statuses: [405, CUT], closes: true },
  '413': { ...REFUSED, statuses: [413] },
  '415': { ...REFUSED, statuses: [415] },
  '417': { ...REFUSED, statuses: [417] },
  '417-or-FWD': { statuses: [417, 200], upstream: 'any', closes: false },
  '431': { statuses: [431], upstream: 'nothing', closes: true },
  '505-or-400': { statuses: [505, 400], upstream: 'nothing', closes: true },
  unfinished: { statuses: [], upstream: 'beginning', closes: false },
};

export type Tokens = Readonly<Record<'token' | 'guest', string>>;

/** Plays a case and says everything that is not as it must be; nothing is as it should be. */
export async function judge(lane: Lane, written: Case, tokens: Tokens): Promise<string[]> {
  const given = JSON.parse(
    JSON.stringify(written).replaceAll(/\{\{(token|guest)\}\}/g, (_, name: keyof Tokens) => tokens[name]),
  ) as Case;
  const verdicts = typeof given.expect === 'string' ? [given.expect] : given.expect;
  const sent = requestsIn(given);
  const meanings = verdicts.map((verdict) => VERDICTS[verdict]);
  const awaited = meanings.filter(({ statuses }) => statuses.length > 0);
  const methods = awaited.map((_, index) => methodOf(sent[index]?.line ?? ''));
  const closes = meanings.at(-1)?.closes === true;
  const played = await lane.play(given.bytes, { methods, closes });
  return [
    ...played.faults,
    ...clientFaults(given, awaited, played),
    ...upstreamFaults(given, meanings, sent, played),
    ...played.requests.flatMap(headerFaults),
    ...(given.lacks?.flatMap((name) =>
      played.requests.filter((head) => strictValues(head, name).length > 0).map(() => `${name} went upstream`),
    ) ?? []),
    ...missing(given.has ?? [], played.requests),
  ];
}

/** Header names are compared without regard to letter case: the client library writes some of them itself. */
function missing(lines: readonly string[], requests: readonly StrictHead[]): string[] {
  const plain = (line: string) => line.replace(/^[^:]*/, (name) => name.toLowerCase());
  const came = new Set(requests.flatMap(({ headers }) => headers.map(([name, value]) => plain(`${name}: ${value}`))));
  return requests.length === 0
    ? []
    : lines.filter((line) => !came.has(plain(line))).map((line) => `${line} did not go upstream`);
}

function clientFaults({ continues = false }: Case, meanings: readonly Meaning[], played: Played): string[] {
  const faults: string[] = [];
  const { answers, interim, isClosed, rest } = played;
  for (const [index, { statuses }] of meanings.entries()) {
    const status = answers[index]?.status ?? (isClosed ? CUT : 'nothing');
    if (!statuses.some((allowed) => allowed === status))
      faults.push(`answered ${status === CUT ? 'with a cut' : status}, not ${statuses.join(' or ')}`);
  }
  if (meanings.at(-1)?.closes === true && !isClosed) faults.push('the connection was not closed');
  if (rest !== '') faults.push(`more was answered: ${JSON.stringify(rest.slice(0, 200))}`);
  const mayContinue = meanings.some(({ upstream }) => upstream === 'any');
  const isAsExpected = interim.length === 0 ? !continues : interim.join() === '100' && (continues || mayContinue);
  if (!isAsExpected) faults.push(`interim answers: ${interim.join() || 'none'}`);
  for (const answer of answers) {
    if (answer.status < 400) continue;
    const isProblem = answer.value('content-type') === 'application/problem+json';
    if (!isProblem && answer.body.length > 0) faults.push('a refusal that is no application/problem+json');
  }
  return faults;
}

/** Everything that came upstream must be a request of the case whose verdict says so, and nothing else. */
function upstreamFaults(
  given: Case,
  meanings: readonly Meaning[],
  sent: readonly Sent[],
  { requests, cut, answers }: Played,
): string[] {
  const show = ({ line, body }: Sent) =>
    `${line} with ${body === undefined ? 'a body that the case must state' : JSON.stringify(body.toString('latin1'))}`;
  const whole: string[] = [];
  const begun: string[] = [];
  for (const [index, { upstream }] of meanings.entries()) {
    const expected = expectedUpstream(given, sent[index]);
    const isPassed = upstream === 'whole' || (upstream === 'any' && answers[index]?.status === 200);
    if (expected !== undefined && isPassed) whole.push(show(expected));
    if (expected !== undefined && upstream !== 'nothing') begun.push(expected.line);
  }
  const faults: string[] = [];
  const got = requests.map(show);
  if (got.toSorted().join('\n') !== whole.toSorted().join('\n'))
    faults.push(`upstream got ${JSON.stringify(got)}, not ${JSON.stringify(whole)}`);
  for (const { line } of cut) if (!begun.includes(line)) faults.push(`upstream got the beginning of ${line}`);
  return faults;
}

function expectedUpstream({ target, body }: Case, sent: Sent | undefined): Sent | undefined {
  if (sent === undefined) return undefined;
  const [method, written] = sent.line.split(' ').filter(Boolean);
  return {
    line: `${method} ${target ?? written} HTTP/1.1`,
    body: body === undefined ? sent.body : Buffer.from(body, 'latin1'),
  };
}

/** What holds for the headers of every request upstream. */
function headerFaults(head: StrictHead): string[] {
  const faults: string[] = [];
  const exactly = (name: string, pattern: RegExp) => {
    const values = strictValues(head, name);
    if (values.length !== 1 || !pattern.test(values[0] ?? ''))
      faults.push(`${name} upstream: ${JSON.stringify(values)}`);
  };
  exactly('host', /^[^,\s@/]+$/);
  exactly('x-forwarded-for', /^127\.0\.0\.1$/);
  exactly('x-forwarded-proto', /^http$/);
  exactly('x-request-id', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  for (const [name, value] of head.headers) {
    if (/evil/.test(value)) faults.push(`upstream got ${name}: ${value}`);
    if (/^(?:te|trailer|upgrade|keep-alive|proxy-connection|http2-settings|expect)$/i.test(name))
      faults.push(`${name} went upstream`);
    if (/^connection$/i.test(name) && !/^(?:keep-alive|close)$/i.test(value))
      faults.push(`connection upstream: ${value}`);
  }
  return faults;
}

/** A request as the client sent it; its body is not known where its framing is what the case is about. */
interface Sent {
  readonly line: string;
  readonly body: Buffer | undefined;
}

/** The requests that a strict reader finds in the bytes of a case, and the one that it does not understand. */
function requestsIn({ bytes }: Case): Sent[] {
  let rest = Buffer.from(typeof bytes === 'string' ? bytes : bytes.join(''), 'latin1');
  const found: Sent[] = [];
  try {
    while (rest.length > 0) {
      const { message } = readStrictly(rest, { line: REQUEST_LINE, unframed: 'no body' });
      if (message === undefined) break;
      found.push(message);
      rest = rest.subarray(message.size);
    }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  }
  const line = rest.toString('latin1').trimStart().split('\r\n')[0] ?? '';
  return rest.length === 0 ? found : [...found, { line, body: undefined }];
}

function methodOf(line: string): string {
  return line.split(' ')[0] ?? '';
}
