import type { BreakerRule } from '../gateway/circuit-breaker/breaker-memory.ts';

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
