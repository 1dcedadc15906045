import { getOrCreate } from '../../engine/get-or-create.ts';
import type { CredentialKind, LogCounts, LoggedRequest, RequestKind, SkippedLineReason } from './logged-request.ts';
import { LineSplitter, type LogInput, type ReadProgress, readBytes } from './read-bytes.ts';

/** The requests of logs in batches, since a promise for each line would take longer than its parsing. */
export interface LogReader extends AsyncIterable<LoggedRequest[]> {
  /** Counts of the lines so far. They are complete after the last batch. */
  readonly counts: Readonly<LogCounts>;
}

/** Reads logs one after the other, a batch at a time, and counts other lines. An unreadable log is a failure in the counts. */
export function readLogs(inputs: readonly LogInput[], onProgress?: (progress: ReadProgress) => void): LogReader {
  const counts: LogCounts = { lines: 0, requests: 0, skipped: new Map(), failures: [] };
  const totalBytes = totalOf(inputs);
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
    onProgress?.({ bytes, totalBytes });
  };
  return {
    counts,
    async *[Symbol.asyncIterator]() {
      for (const input of inputs) yield* readLog(input, counts, count);
    },
  };
}

function totalOf(inputs: readonly LogInput[]): number | undefined {
  const sizes = inputs.map(({ bytes }) => bytes);
  return sizes.every((size) => size !== undefined) ? sizes.reduce((sum, size) => sum + size, 0) : undefined;
}

async function* readLog(
  input: LogInput,
  counts: LogCounts,
  onBytes: (bytes: number) => void,
): AsyncGenerator<LoggedRequest[]> {
  const splitter = new LineSplitter();
  let lines = 0;
  let requests: LoggedRequest[] = [];
  const add = (line: string | undefined) => {
    lines += 1;
    counts.lines += 1;
    const parsed = line === undefined ? TOO_LONG : parseLogLine(line, input.name, lines);
    if ('line' in parsed) {
      counts.requests += 1;
      requests.push(parsed);
    } else countSkipped(counts, parsed, input.name, lines);
  };
  function* takeRequests() {
    if (requests.length > 0) yield requests;
    requests = [];
  }
  try {
    for await (const chunk of readBytes(input, onBytes)) {
      splitter.push(chunk, add);
      yield* takeRequests();
    }
  } catch (error) {
    counts.failures.push({ source: input.name, lines, message: describeFailure(error) });
  }
  splitter.end(add);
  yield* takeRequests();
}

const TOO_LONG: SkippedLine = { reason: 'too-long' };

function countSkipped({ skipped }: LogCounts, { reason, member }: SkippedLine, source: string, line: number): void {
  getOrCreate(skipped, reason, () => ({ lines: 0, source, line, member })).lines += 1;
}

/** The codes of `zlib` for data that ends early. */
const TRUNCATED_CODES: readonly unknown[] = ['Z_BUF_ERROR', 'ERR_STREAM_PREMATURE_CLOSE'];

function describeFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  if (TRUNCATED_CODES.includes(code)) return 'the compressed data ends early; copy the file again';
  if (code?.startsWith('Z_')) return 'the compressed data is damaged; copy the file again';
  if (code === 'EISDIR') return 'this is a folder; name the files in it';
  return `cannot be read: ${code ?? 'unknown error'}`;
}

/** A line that is not a logged request. */
interface SkippedLine {
  readonly reason: SkippedLineReason;
  /** The invalid member of a request. */
  readonly member?: string;
}

/** The members are of unknown types: a log may contain any text. */
type JsonObject = Readonly<Record<string, unknown>>;

/** The latest time that a `Date` can have. */
const MAX_TIME_MS = 8.64e15;
/** A smaller share would give one line the weight of more requests than a gateway serves. */
const MIN_SHARE = 1e-6;
/** RFC 9110 section 5.6.2. */
const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** As the gateway accepts it: visible characters, without query and fragment. */
const PATH = /^[/*][!-"$->@-~]*$/;
/** Control characters, and those that change the direction of text, would change the output on a terminal. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** Parses a line of an access log with its number from 1, also behind a prefix of a container engine, or in JSON of journald. */
export function parseLogLine(text: string, source: string, number: number): LoggedRequest | SkippedLine {
  const start = text.indexOf('{');
  if (start === -1) return { reason: text.trim() === '' ? 'blank' : 'not-json' };
  const json = start === 0 ? text : text.slice(start);
  const value = unwrap(parseObject(json));
  if (value === undefined) return { reason: json.trimEnd().endsWith('}') ? 'not-json' : 'truncated' };
  const message = value['msg'];
  if (message === 'request') return readRequest(value, source, number);
  return { reason: typeof message === 'string' && typeof value['level'] === 'number' ? 'other-message' : 'foreign' };
}

/** The members in which Docker and journald put a line. */
const WRAPPERS = ['log', 'MESSAGE'];

/** Returns the JSON object in a line that a container engine or journald wrote. */
function unwrap(value: JsonObject | undefined): JsonObject | undefined {
  if (value === undefined || typeof value['msg'] === 'string') return value;
  const inner = WRAPPERS.map((name) => value[name]).find((text) => typeof text === 'string');
  const start = inner?.indexOf('{') ?? -1;
  return (start === -1 ? undefined : parseObject(inner?.slice(start) ?? '')) ?? value;
}

/** Returns `undefined` if the text is not valid. The text begins with a brace, so any other value is an object. */
function parseObject(text: string): JsonObject | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the members of a line `"msg":"request"`. Anyone may have written the line, so each member is checked. */
function readRequest(value: JsonObject, source: string, line: number): LoggedRequest | SkippedLine {
  const member = NAMED_TESTS.find(([name, test]) => !test(value[name]))?.[0];
  if (member !== undefined) return { reason: 'member-invalid', member };
  const members = value as unknown as LineMembers;
  return {
    source,
    line,
    time: members.time,
    method: members.method,
    path: members.path,
    isKeyed: members.keyed === true,
    route: members.route,
    upstream: members.upstream,
    status: members.status,
    refusal: members.refusal,
    reason: members.reason,
    limit: members.limit,
    reported: members.reported?.map(({ code }) => code) ?? [],
    isAborted: members.aborted === true,
    receivedBytes: members.bytesIn ?? 0,
    isForwarded: members.gatewayMs !== undefined,
    subject: members.subject,
    issuer: members.issuer,
    client: members.client ?? members.peer ?? undefined,
    weight: 1 / (members.sampled ?? 1),
    manifest: members.manifest,
    roles: loggedRoles(members.role),
    credential: members.credential,
    mediaType: members.type,
    queryNames: members.query,
    host: members.host,
    kind: members.kind,
  };
}

function loggedRoles(role: LineMembers['role']): readonly string[] | undefined {
  if (role === undefined) return undefined;
  return role === 'other' ? [] : [role].flat();
}

/** A test of the value of a member, and its type. */
type Test<Value> = (value: unknown) => value is Value;

const isInteger = (value: unknown, max: number) =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= max;
const isText = (value: unknown): value is string => typeof value === 'string' && !UNPRINTABLE.test(value);
const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

/** Accepts a member that is missing, or that has a value of this type. */
function optional<Value>(test: (value: unknown) => boolean): Test<Value | undefined> {
  return (value): value is Value | undefined => value === undefined || test(value);
}
const matching = (pattern: RegExp) => optional<string>((value) => typeof value === 'string' && pattern.test(value));
const oneOf = <Word>(words: readonly Word[]) => optional<Word>((value) => words.includes(value as Word));
const text = optional<string>(isText);
const boolean = optional<boolean>((value) => typeof value === 'boolean');
const positive = optional<number>((value) => typeof value === 'number' && value >= 0);
const reported = optional<readonly { readonly code: string }[]>(
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'object' && one !== null && isText(one.code)),
);

/** The members that are read. */
const TESTS = {
  time: (value: unknown): value is number => isInteger(value, MAX_TIME_MS),
  method: matching(METHOD),
  path: matching(PATH),
  keyed: boolean,
  route: text,
  upstream: text,
  status: optional<number>((value) => isInteger(value, 999)),
  refusal: text,
  reason: text,
  limit: text,
  reported,
  aborted: boolean,
  bytesIn: positive,
  gatewayMs: positive,
  subject: text,
  issuer: text,
  peer: optional<string | null>((value) => value === null || isText(value)),
  client: text,
  sampled: optional<number>((value) => typeof value === 'number' && value >= MIN_SHARE && value <= 1),
  manifest: text,
  role: optional<string | readonly string[]>((value) => isText(value) || isTextList(value)),
  credential: oneOf<CredentialKind>(['bearer', 'other', 'none']),
  type: text,
  query: optional<readonly string[]>(isTextList),
  host: text,
  kind: oneOf<RequestKind>(['websocket', 'preflight', 'server-options']),
};

const NAMED_TESTS = Object.entries(TESTS);

type LineMembers = {
  readonly [Name in keyof typeof TESTS]: (typeof TESTS)[Name] extends Test<infer Value> ? Value : never;
};
