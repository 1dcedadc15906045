/** A credential in `Authorization`: a bearer token, another scheme, or none. */
export type CredentialKind = 'bearer' | 'other' | 'none';

/** How the gateway treats a request that no route forwards, or that opens a WebSocket. */
export type RequestKind = 'websocket' | 'preflight' | 'server-options';

/** A line of a log: the name of the log, and the number of the line, from 1. */
export type LogLine = Pick<LoggedRequest, 'source' | 'line'>;

/** A line `"msg":"request"` of the access log. `log.replay` adds members from `manifest` on. No query values, headers, claims or bodies. */
export interface LoggedRequest {
  /** The name of the log and the number of the line, from 1. */
  readonly source: string;
  readonly line: number;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly method: string | undefined;
  /** Without the query; with surrogates in place of identifiers if the log has keyed paths. `undefined` if the request target was invalid. */
  readonly path: string | undefined;
  /** True if the line says that its path has surrogates. Lines of earlier versions do not say so. */
  readonly isKeyed: boolean;
  readonly route: string | undefined;
  /** The id of the route's upstream, also if the request was refused. */
  readonly upstream: string | undefined;
  /** `undefined` if the client disconnected before the response began. */
  readonly status: number | undefined;
  /** The code and the exact reason of a refusal. */
  readonly refusal: string | undefined;
  readonly reason: string | undefined;
  /** The rate limit that refused the request. */
  readonly limit: string | undefined;
  /** The codes of the violations that the route or a rate limit only reported. */
  readonly reported: readonly string[];
  /** True if the response ended early. */
  readonly isAborted: boolean;
  readonly receivedBytes: number;
  /** True if the request was forwarded. */
  readonly isForwarded: boolean;
  /** A hash of the caller's `sub`. */
  readonly subject: string | undefined;
  /** The method of `auth.tokens` that accepted the token; `undefined` if the manifest has only one. */
  readonly issuer: string | undefined;
  /** The address of the client, as a trusted proxy reported it, or of the connection's other end. */
  readonly client: string | undefined;
  /** The number of requests that this line stands for: 1 divided by `sampled`. */
  readonly weight: number;
  /** The first 16 hex digits of the SHA-256 of the manifest. */
  readonly manifest: string | undefined;
  /** The roles of the verified caller that `auth.role` allows; empty for `other`; `undefined` without a verified caller. */
  readonly roles: readonly string[] | undefined;
  readonly credential: CredentialKind | undefined;
  /** In lower case, without parameters: `application/json`; `other` for one that is neither common nor in the manifest. */
  readonly mediaType: string | undefined;
  /** The names of the query parameters, in order; `*` for a name that may be a secret. */
  readonly queryNames: readonly string[] | undefined;
  /** In lower case, with its port. */
  readonly host: string | undefined;
  readonly kind: RequestKind | undefined;
}

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
