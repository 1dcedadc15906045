import type { Violation } from '../../plan/body/violation.ts';

/**
 * Everything that the gateway itself refuses: code, status, title (RFC 9457), and the detail unless a
 * place knows better. `docs/errors.md` is held to this table by a test.
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
    detail: 'the path, the query or a header does not fit what this route takes',
  },
  body_invalid: { status: 400, title: 'Invalid body', detail: 'the body does not fit what this route takes' },
  token_missing: { status: 401, title: 'No token', detail: 'this route needs a bearer token' },
  token_invalid: { status: 401, title: 'Invalid token', detail: 'the bearer token is not valid' },
  origin_not_allowed: {
    status: 403,
    title: 'Origin not allowed',
    detail: 'pages of this origin may not open a WebSocket here',
  },
  role_not_allowed: { status: 403, title: 'Role not allowed', detail: 'the role of this user is not allowed' },
  route_unknown: { status: 404, title: 'No such route', detail: 'no route has this path' },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'the route of this path does not take this method',
  },
  request_timeout: { status: 408, title: 'Request timeout', detail: 'the request did not come in time' },
  body_too_large: { status: 413, title: 'Body too large', detail: 'the body is longer than this route takes' },
  media_type_unsupported: {
    status: 415,
    title: 'Unsupported media type',
    detail: 'this route does not take a body of this media type or content encoding',
  },
  expectation_failed: { status: 417, title: 'Expectation failed', detail: 'only the expectation 100-continue is met' },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    detail: 'the request has too many headers, or too long ones',
  },
  internal_error: { status: 500, title: 'Internal error', detail: 'the gateway failed; the request id is in its log' },
  upstream_unreachable: {
    status: 502,
    title: 'Upstream unreachable',
    detail: 'the upstream service refused the connection or could not be found',
  },
  upstream_error: {
    status: 502,
    title: 'Upstream broken',
    detail: 'the upstream service did not give a whole and valid answer',
  },
  login_response_refused: {
    status: 502,
    title: 'Login answer refused',
    detail: 'the answer of the login service could not be checked',
  },
  gateway_busy: {
    status: 503,
    title: 'Gateway busy',
    detail: 'the gateway has too many bodies to hold or to validate now; send the request again later',
  },
  upstream_unavailable: { status: 503, title: 'Upstream unavailable', detail: 'the upstream service is not available' },
  upstream_busy: { status: 503, title: 'Upstream busy', detail: 'the upstream service has too much to do' },
  keys_unavailable: { status: 503, title: 'Keys unavailable', detail: 'tokens cannot be verified now' },
  upstream_timeout: { status: 504, title: 'Upstream timeout', detail: 'the upstream service did not answer in time' },
} as const satisfies Record<string, { status: number; title: string; detail: string }>;

export type RefusalCode = keyof typeof REFUSALS;

export interface RefusalOptions {
  /** In place of the table's detail. */
  readonly detail?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly errors?: readonly Violation[];
  /** For the log only: what exactly was wrong. Never sent. */
  readonly reason?: string;
}

/**
 * What the gateway answers in place of the upstream. Thrown by the steps of a request's walk; no `Error`,
 * since a stack for each hostile request would cost more than the request.
 */
export class Refusal {
  readonly code: RefusalCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly reason: string;
  readonly #options: RefusalOptions;

  constructor(code: RefusalCode, options: RefusalOptions = {}) {
    this.code = code;
    this.status = REFUSALS[code].status;
    this.headers = options.headers ?? {};
    this.reason = options.reason ?? code;
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

  /** The locations of the violations. */
  get pointers(): readonly string[] {
    return this.errors.map(({ pointer }) => pointer);
  }

  /** The body: `application/problem+json` (RFC 9457); `message` repeats `detail` for clients that read it. */
  body(requestId: string): string {
    const { title, detail: usual } = REFUSALS[this.code];
    const { detail = usual, errors } = this.#options;
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

/** Refuses for now. @param reason for the log */
export function gatewayBusy(reason: string): Refusal {
  return new Refusal('gateway_busy', { headers: { 'Retry-After': '1' }, reason });
}
