import { parseJson } from '../../engine/json-pointer.ts';

/** A credential in `Authorization`: a bearer token, another scheme, or none. */
type CredentialKind = 'bearer' | 'other' | 'none';

/** How the gateway treats a request that no route forwards, or that opens a WebSocket. */
type RequestKind = 'websocket' | 'preflight' | 'server-options';

/** A line of a log: the name of the log, and the number of the line, from 1. */
export type LogLine = Pick<LoggedRequest, 'source' | 'line'>;

/** A line `"msg":"request"` of the access log. `log.replay` adds members from `manifest` on. No query values, headers, claims or bodies. */
export type LoggedRequest = Readonly<ReturnType<typeof loggedRequestOf>>;

/** The reasons why a line of a log is not a logged request. */
export const SKIP_REASONS = {
  blank: 'empty lines',
  'not-json': 'lines of other programs, without JSON',
  foreign: 'JSON of other programs',
  'other-message': 'lines about the process of the gateway',
  truncated: 'lines whose JSON ends too early',
  'too-long': 'lines longer than 64 KB',
  'member-invalid': 'requests with a member of the wrong type',
} as const;

export type SkippedLineReason = keyof typeof SKIP_REASONS;

interface SkippedLines {
  lines: number;
  /** The log and the number of the first of them. */
  readonly source: string;
  readonly line: number;
  /** The member of the first one that is invalid. */
  readonly member: string | undefined;
}

/** The numbers of lines that were read so far. */
export interface LogCounts {
  lines: number;
  requests: number;
  readonly skipped: Map<SkippedLineReason, SkippedLines>;
  /** The logs that could not be read to their ends: the number of lines before, and what is wrong and what to do. */
  readonly failures: { readonly source: string; readonly lines: number; readonly message: string }[];
}

/** A line that is not a logged request. */
export interface SkippedLine {
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
  // The text begins with a brace, so its value is an object.
  const value = unwrap(parseJson(json) as JsonObject | undefined);
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
  return (start === -1 ? undefined : (parseJson(inner?.slice(start) ?? '') as JsonObject | undefined)) ?? value;
}

/** Reads the members of a line `"msg":"request"`. Anyone may have written the line, so each member is checked. */
function readRequest(value: JsonObject, source: string, line: number): LoggedRequest | SkippedLine {
  const member = NAMED_TESTS.find(([name, test]) => !test(value[name]))?.[0];
  if (member !== undefined) return { reason: 'member-invalid', member };
  return loggedRequestOf(value as unknown as LineMembers, source, line);
}

function loggedRequestOf(members: LineMembers, source: string, line: number) {
  return {
    /** The name of the log and the number of the line, from 1. */
    source,
    line,
    /** Milliseconds since the Unix epoch. */
    time: members.time,
    method: members.method,
    /** Without the query; with surrogates in place of identifiers if the log has keyed paths. `undefined` if the request target was invalid. */
    path: members.path,
    /** True if the line says that its path has surrogates. Lines of earlier versions do not say so. */
    isKeyed: members.keyed === true,
    route: members.route,
    /** The id of the route's upstream, also if the request was refused. */
    upstream: members.upstream,
    /** `undefined` if the client disconnected before the response began. */
    status: members.status,
    /** The code and the exact reason of a refusal. */
    refusal: members.refusal,
    reason: members.reason,
    /** The rate limit that refused the request. */
    limit: members.limit,
    /** The codes of the violations that the route or a rate limit only reported. */
    reported: members.reported?.map(({ code }) => code) ?? [],
    /** True if the response ended early. */
    isAborted: members.aborted === true,
    receivedBytes: members.bytesIn ?? 0,
    /** True if the request was forwarded. */
    isForwarded: members.gatewayMs !== undefined,
    /** A hash of the caller's `sub`. */
    subject: members.subject,
    /** The method of `auth.tokens` that accepted the token; `undefined` if the manifest has only one. */
    issuer: members.issuer,
    /** The address of the client, as a trusted proxy reported it, or of the connection's other end. */
    client: members.client ?? members.peer ?? undefined,
    /** The number of requests that this line stands for: 1 divided by `sampled`. */
    weight: 1 / (members.sampled ?? 1),
    /** The first 16 hex digits of the SHA-256 of the manifest. */
    manifest: members.manifest,
    /** The roles of the verified caller that `auth.role` allows; empty for `other`; `undefined` without a verified caller. */
    roles: loggedRoles(members.role),
    credential: members.credential,
    /** In lower case, without parameters: `application/json`; `other` for one that is neither common nor in the manifest. */
    mediaType: members.type,
    /** The names of the query parameters, in order; `*` for a name that may be a secret. */
    queryNames: members.query,
    /** In lower case, with its port. */
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
