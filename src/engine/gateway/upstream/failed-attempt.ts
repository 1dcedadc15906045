import { IDEMPOTENT_METHODS } from '../../http1/http-methods.ts';
import type { Http1ErrorCode } from '../../http1/http1-error.ts';
import type { FailureSource } from '../circuit-breaker/circuit-breaker.ts';
import { ClientDisconnected, isTimeout, UpstreamError } from './upstream-error.ts';

/** Error codes of the system that occur after a request was sent. */
type SystemErrorCode = 'ECONNRESET' | 'EPIPE' | 'ETIMEDOUT' | 'EHOSTUNREACH' | 'ENETUNREACH';

/** Error codes of the system for a lack of resources. */
type ResourceErrorCode = 'EMFILE' | 'ENFILE' | 'ENOBUFS' | 'ENOMEM';

/** Reasons for which the gateway itself ends an exchange with an endpoint. */
type GatewayReason = 'exchange_too_long' | 'login_response_too_long' | 'body_too_large' | 'body_invalid';

/** The source of each failure after a request was sent, and of each lack of resources. A test checks all codes. */
export const FAILURE_SOURCES: Readonly<
  Record<Http1ErrorCode | SystemErrorCode | ResourceErrorCode | GatewayReason, FailureSource>
> = {
  connect_timeout: 'endpoint',
  response_timeout: 'request',
  // A client can request a response that pauses, such as an event stream.
  idle_timeout: 'client',
  connection_closed: 'request',
  response_malformed: 'request',
  // Upstreams repeat the query of the client in `Location` and `Link`.
  response_head_too_large: 'client',
  response_unexpected: 'request',
  upgrade_unexpected: 'request',
  informational_too_many: 'request',
  request_malformed: 'client',
  ECONNRESET: 'request',
  EPIPE: 'request',
  ETIMEDOUT: 'endpoint',
  EHOSTUNREACH: 'endpoint',
  ENETUNREACH: 'endpoint',
  EMFILE: 'gateway',
  ENFILE: 'gateway',
  ENOBUFS: 'gateway',
  ENOMEM: 'gateway',
  exchange_too_long: 'request',
  login_response_too_long: 'client',
  body_too_large: 'client',
  body_invalid: 'client',
};

/** Returns the source of a failure. @param code the code of an `Http1Error` or a system error, or the reason of a refusal */
export function failureSourceOf(code: string): FailureSource | undefined {
  return Object.hasOwn(FAILURE_SOURCES, code) ? FAILURE_SOURCES[code as keyof typeof FAILURE_SOURCES] : undefined;
}

/** A failed attempt to get a response from an endpoint, with its state at that time. */
export interface FailedAttempt {
  readonly error: Error & { code?: string };
  readonly method: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The number of endpoints of the upstream. */
  readonly endpoints: number;
  /** True once the request, or a part of it, was sent. */
  readonly isSent: boolean;
  /** True once a head arrived, informational (1xx) responses included. */
  readonly hasResponse: boolean;
  readonly hasBody: boolean;
  /** True if the body is in memory, or the gateway has not begun to read it from the client. */
  readonly isBodyRepeatable: boolean;
  /** True once the client has sent its complete request. */
  readonly isRequestComplete: boolean;
  /** True if the response was paused because the client reads slowly. */
  readonly wasPaused: boolean;
  /** True if this process stood still during the attempt. */
  readonly hasStoodStill: boolean;
  /** True if the response is an event stream. */
  readonly isEventStream: boolean;
  /** True if the endpoint may have closed a reused connection before the request arrived. */
  readonly mayHaveBeenStale: boolean;
}

/** True if the request can be sent again: nothing was sent, or an idempotent request met a stale connection. */
export function isRetryable(failed: FailedAttempt): boolean {
  const { error, isSent, attempt, endpoints } = failed;
  if (error instanceof UpstreamError || error instanceof ClientDisconnected) return false;
  if (!isSent) return attempt < endpoints;
  const wasStale = !failed.hasResponse && !isTimeout(error) && failed.mayHaveBeenStale;
  return attempt === 1 && wasStale && IDEMPOTENT_METHODS.has(failed.method) && failed.isBodyRepeatable;
}

/** True if the client left while it waited for the response to a complete request. */
export function isAbandoned({ error, isSent, hasResponse, isRequestComplete }: FailedAttempt): boolean {
  return error instanceof ClientDisconnected && isSent && !hasResponse && isRequestComplete;
}

/** Returns the party that may have caused the failure, for the circuit breaker. */
export function sourceOfFailure(failed: FailedAttempt): FailureSource {
  const { error, isSent, hasResponse, hasBody, isRequestComplete, wasPaused } = failed;
  const code = error.code ?? '';
  if (error instanceof ClientDisconnected) return 'client';
  if (failed.hasStoodStill) return 'gateway';
  const isTotalTimeout = error instanceof UpstreamError && error.refusal.code === 'upstream_timeout';
  if (error instanceof UpstreamError && !isTotalTimeout) return failureSourceOf(error.refusal.reason) ?? 'client';
  // The limit of the complete exchange also runs while a slow client reads the response.
  if (isTotalTimeout && hasResponse) return 'client';
  if (!isTotalTimeout && !isSent) return failureSourceOf(code) === 'gateway' ? 'gateway' : 'endpoint';
  // An event stream has no other end than the close of its connection, and clients open it again.
  if (failed.isEventStream) return 'client';
  // An upstream that responds early and closes resets the connection, because it has not read the rest of the body.
  if (hasResponse && hasBody && code === 'ECONNRESET') return 'client';
  // An upstream may close because the client sends or reads slowly. An upstream that stops reading an upload fails by itself.
  if ((!isRequestComplete && code !== 'response_timeout') || wasPaused) return 'client';
  return failureSourceOf(isTotalTimeout ? 'exchange_too_long' : code) ?? 'request';
}
