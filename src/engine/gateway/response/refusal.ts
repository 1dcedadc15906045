import type { Violation } from '../../schema/value-validator.ts';

/**
 * Every refusal of the gateway: code, status, title and default detail (RFC 9457). A test compares `docs/errors.md` with this
 * table.
 */
export const REFUSALS = {
  message_malformed: {
    status: 400,
    title: 'Malformed message',
    detail: 'the request is malformed or can be read in two ways',
  },
  path_ambiguous: { status: 400, title: 'Ambiguous path', detail: 'the path can be read in two ways' },
  parameter_invalid: {
    status: 400,
    title: 'Invalid parameter',
    detail: 'the path, the query or a header violates the rules of this route',
  },
  body_invalid: { status: 400, title: 'Invalid body', detail: 'the body violates the rules of this route' },
  token_missing: { status: 401, title: 'No token', detail: 'this route requires a bearer token' },
  token_invalid: { status: 401, title: 'Invalid token', detail: 'the bearer token is not valid' },
  origin_not_allowed: {
    status: 403,
    title: 'Origin not allowed',
    detail: 'pages of this origin may not open a WebSocket here',
  },
  claim_unusable: { status: 403, title: 'Claim not usable', detail: 'a claim of this user is missing or unusable' },
  role_not_allowed: { status: 403, title: 'Role not allowed', detail: 'the role of this user is not allowed' },
  route_unknown: { status: 404, title: 'No such route', detail: 'no route has this path' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'the route of this path does not allow this method',
  },
  request_timeout: { status: 408, title: 'Request timeout', detail: 'the request did not arrive in time' },
  body_too_large: { status: 413, title: 'Body too large', detail: 'the body exceeds the limit of this route' },
  media_type_unsupported: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'this route does not accept a body of this media type or content encoding',
  },
  expectation_failed: {
    status: 417,
    title: 'Expectation failed',
    detail: 'only the expectation 100-continue is supported',
  },
  websocket_version_unsupported: { status: 426, title: 'Other version', detail: 'a WebSocket must have version 13' },
  rate_limit_key_missing: {
    status: 400,
    title: 'Missing value',
    detail: 'the request lacks a value that this route needs',
  },
  rate_limit_exceeded: {
    status: 429,
    title: 'Too many requests',
    detail: 'too many requests; send the request again after the time in Retry-After',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    detail: 'the request has too many headers, or headers that are too long',
  },
  internal_error: { status: 500, title: 'Internal error', detail: 'the gateway failed; the request id is in its log' },
  upstream_unreachable: {
    status: 502,
    title: 'Upstream unreachable',
    detail: 'the upstream service refused the connection or could not be found',
  },
  upstream_error: {
    status: 502,
    title: 'Upstream error',
    detail: 'the upstream service did not send a complete and valid response',
  },
  login_response_refused: {
    status: 502,
    title: 'Login response refused',
    detail: 'the response of the login service could not be verified',
  },
  gateway_busy: {
    status: 503,
    title: 'Gateway busy',
    detail: 'the gateway has too many bodies to buffer or validate now; send the request again later',
  },
  rate_limit_unavailable: {
    status: 503,
    title: 'Rate limit unavailable',
    detail: 'the gateway cannot count this request now; send it again later',
  },
  upstream_unavailable: { status: 503, title: 'Upstream unavailable', detail: 'the upstream service is not available' },
  upstream_busy: { status: 503, title: 'Upstream busy', detail: 'the upstream service has too many requests' },
  keys_unavailable: { status: 503, title: 'Keys unavailable', detail: 'tokens cannot be verified now' },
  upstream_timeout: { status: 504, title: 'Upstream timeout', detail: 'the upstream service did not respond in time' },
  loop_detected: { status: 508, title: 'Loop detected', detail: 'the request has passed this gateway before' },
} as const satisfies Record<string, { status: number; title: string; detail: string }>;

/** The reason phrases of refusals and of usual responses (RFC 9110 section 15). */
export const STATUS_REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  204: 'No Content',
  301: 'Moved Permanently',
  302: 'Found',
  303: 'See Other',
  307: 'Temporary Redirect',
  308: 'Permanent Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  410: 'Gone',
  413: 'Payload Too Large',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
  508: 'Loop Detected',
};

export type RefusalCode = keyof typeof REFUSALS;

interface RefusalOptions {
  /** Replaces the detail from the table. */
  readonly detail?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: readonly Violation[];
  /** The exact reason, for the log only. Never sent. */
  readonly reason?: string;
  /** The id of the rate limit, for the log only. */
  readonly limit?: string;
}

/**
 * An error response of the gateway itself. The steps of a request throw it. It is not an `Error`, because a stack trace for each
 * hostile request would cost more than the request.
 */
export class Refusal {
  readonly code: RefusalCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly reason: string;
  /** The id of the rate limit that refused the request. Never sent. */
  readonly limit: string | undefined;
  readonly #options: RefusalOptions;

  constructor(code: RefusalCode, options: RefusalOptions = {}) {
    this.code = code;
    this.status = REFUSALS[code].status;
    this.headers = options.headers ?? {};
    this.reason = options.reason ?? code;
    this.limit = options.limit;
    this.#options = options;
  }

  /** The detail that the client receives. */
  get detail(): string {
    return this.#options.detail ?? REFUSALS[this.code].detail;
  }

  /** The violations that the client receives. */
  get errors(): readonly Violation[] {
    return this.#options.errors ?? [];
  }

  /** JSON Pointers of the violations. */
  get pointers(): readonly string[] {
    return this.errors.map(({ pointer }) => pointer);
  }

  /** Returns the body: `application/problem+json` (RFC 9457). `message` repeats `detail` for clients that expect this member. */
  body(requestId: string): string {
    const { title, detail: defaultDetail } = REFUSALS[this.code];
    const { detail = defaultDetail, errors } = this.#options;
    const type = `urn:signing-gateway:refusal:${this.code}`;
    return JSON.stringify({
      type,
      title,
      status: this.status,
      detail,
      code: this.code,
      message: detail,
      request_id: requestId,
      errors,
    });
  }
}

/** Returns the refusal for a lack of memory or processor time. @param reason for the log */
export function gatewayBusy(reason: string): Refusal {
  return new Refusal('gateway_busy', { headers: { 'Retry-After': '1' }, reason });
}

/** Why a token was rejected; for the log only. With `keys_unavailable` the token may be valid. */
export const TOKEN_ERRORS = [
  'token_malformed',
  'token_inactive',
  'token_expired',
  'token_not_yet_valid',
  'type_wrong',
  'issuer_wrong',
  'audience_wrong',
  'algorithm_not_allowed',
  'key_unknown',
  'signature_wrong',
  'claims_wrong',
  'keys_unavailable',
] as const;

export type TokenErrorCode = (typeof TOKEN_ERRORS)[number];
