import type { BreakerRule } from '../gateway/circuit-breaker/circuit-breaker.ts';
import { RestartableTimeout } from '../http1/timeouts.ts';

/** A request to an identity service. */
export interface IdentityRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The body of a POST request. Without a form the request is a GET. */
  readonly form?: string | undefined;
}

export interface IdentityResponse {
  readonly status: number;
  readonly mediaType: string;
  readonly body: Buffer;
}

/** The identity service sent no complete response. The message is a short code and contains no part of the request. */
export class IdentityError extends Error {}

/** Returns a signal that aborts after a time, but not because of a standstill of this process. */
export function timeoutSignal(timeoutMs: number): AbortSignal {
  const abort = new AbortController();
  new RestartableTimeout(timeoutMs, () => abort.abort(new IdentityError('timeout'))).start();
  return abort.signal;
}

/**
 * The circuit breaker of an identity service: five consecutive failures open it, then one request goes through every two
 * seconds. The service may fail on the tokens of one client, so a client counts for two failures and waits for its trial
 * until the clients without failures had one.
 */
export const IDENTITY_BREAKER_RULE: BreakerRule = {
  failures: 5,
  failuresPerClient: 2,
  pauseMs: 2_000,
  trialMs: 2_000,
  isTrialForOthersFirst: true,
};

/** The client key of requests that the gateway sends for itself. */
export const GATEWAY_CLIENT = '';
