import type { Http1ErrorCode } from '../../http1/http1-error.ts';
import type { FailureSource } from '../circuit-breaker/circuit-breaker.ts';

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
  idle_timeout: 'request',
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
