import { IDEMPOTENT_METHODS } from '../../http1/http-methods.ts';
import type { FailureSource } from '../circuit-breaker/circuit-breaker.ts';
import { failureSourceOf } from './failure-sources.ts';
import { ClientDisconnected, isTimeout, UpstreamError } from './upstream-error.ts';

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
  const isTotalTimeout = error instanceof UpstreamError && error.refusal.code === 'upstream_timeout';
  if (error instanceof UpstreamError && !isTotalTimeout) return failureSourceOf(error.refusal.reason) ?? 'client';
  // The limit of the complete exchange also runs while a slow client reads the response.
  if (isTotalTimeout && hasResponse) return 'client';
  if (!isTotalTimeout && !isSent) return failureSourceOf(code) === 'gateway' ? 'gateway' : 'endpoint';
  // An upstream that responds early and closes resets the connection, because it has not read the rest of the body.
  if (hasResponse && hasBody && code === 'ECONNRESET') return 'client';
  // An upstream may close because the client sends or reads slowly. An upstream that stops reading an upload fails by itself.
  if ((!isRequestComplete && code !== 'response_timeout') || wasPaused) return 'client';
  return failureSourceOf(isTotalTimeout ? 'exchange_too_long' : code) ?? 'request';
}
