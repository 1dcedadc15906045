import type { SkippedLineReason } from './log-counts.ts';
import type { CredentialKind, LoggedRequest, RequestKind } from './logged-request.ts';

/** A line that is not a logged request. */
export interface SkippedLine {
  readonly reason: SkippedLineReason;
  /** The invalid member of a request. */
  readonly member?: string;
}

/** The members are of unknown types: a log may contain any text. */
export type JsonObject = Readonly<Record<string, unknown>>;

const CREDENTIALS: readonly CredentialKind[] = ['bearer', 'other', 'none'];
const KINDS: readonly RequestKind[] = ['websocket', 'preflight', 'server-options'];

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

/** Reads the members of a line `"msg":"request"`. Anyone may have written the line, so each member is checked. */
export function readRequest(value: JsonObject, source: string, line: number): LoggedRequest | SkippedLine {
  const member = firstInvalidMember(value);
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
    client: members.client ?? members.peer ?? undefined,
    weight: 1 / (members.sampled ?? 1),
    manifest: members.manifest,
    roles: rolesOf(members.role),
    credential: members.credential,
    mediaType: members.type,
    queryNames: members.query,
    host: members.host,
    kind: members.kind,
  };
}

/** The members of a line that all tests of `TESTS` accept. */
interface LineMembers {
  readonly time: number;
  readonly method?: string;
  readonly path?: string;
  readonly keyed?: boolean;
  readonly route?: string;
  readonly upstream?: string;
  readonly status?: number;
  readonly refusal?: string;
  readonly reason?: string;
  readonly limit?: string;
  readonly reported?: readonly { readonly code: string }[];
  readonly aborted?: boolean;
  readonly bytesIn?: number;
  readonly gatewayMs?: number;
  readonly subject?: string;
  readonly peer?: string | null;
  readonly client?: string;
  readonly sampled?: number;
  readonly manifest?: string;
  readonly role?: string | readonly string[];
  readonly credential?: CredentialKind;
  readonly type?: string;
  readonly query?: readonly string[];
  readonly host?: string;
  readonly kind?: RequestKind;
}

function rolesOf(role: LineMembers['role']): readonly string[] | undefined {
  if (role === undefined) return undefined;
  return role === 'other' ? [] : [role].flat();
}

type Test = (value: unknown) => boolean;

const optional =
  (test: Test): Test =>
  (value) =>
    value === undefined || test(value);
const matches = (pattern: RegExp) => optional((value) => typeof value === 'string' && pattern.test(value));
const isInteger = (value: unknown, max: number) =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= max;
const isText: Test = (value) => typeof value === 'string' && !UNPRINTABLE.test(value);
const isTextList: Test = (value) => Array.isArray(value) && value.every(isText);
const text = optional(isText);
const number = optional((value) => typeof value === 'number' && value >= 0);
const boolean = optional((value) => typeof value === 'boolean');

/** The members that are read, with the tests of their values. */
const TESTS: readonly (readonly [keyof LineMembers, Test])[] = [
  ['time', (value) => isInteger(value, MAX_TIME_MS)],
  ['method', matches(METHOD)],
  ['path', matches(PATH)],
  ['keyed', boolean],
  ['route', text],
  ['upstream', text],
  ['status', optional((value) => isInteger(value, 999))],
  ['refusal', text],
  ['reason', text],
  ['limit', text],
  ['reported', optional((value) => Array.isArray(value) && value.every(isViolation))],
  ['aborted', boolean],
  ['bytesIn', number],
  ['gatewayMs', number],
  ['subject', text],
  ['peer', (value) => value === null || text(value)],
  ['client', text],
  ['sampled', optional((value) => typeof value === 'number' && value >= MIN_SHARE && value <= 1)],
  ['manifest', text],
  ['role', (value) => text(value) || isTextList(value)],
  ['credential', optional((value) => CREDENTIALS.includes(value as CredentialKind))],
  ['type', text],
  ['query', optional(isTextList)],
  ['host', text],
  ['kind', optional((value) => KINDS.includes(value as RequestKind))],
];

function isViolation(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'code' in value && isText(value.code);
}

function firstInvalidMember(value: JsonObject): string | undefined {
  for (const [name, test] of TESTS) if (!test(value[name])) return name;
  return undefined;
}
