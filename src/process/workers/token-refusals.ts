import type { Log } from '../../engine/log/log.ts';

const INTERVAL_MS = 60_000;
/** A burst of one client in a second with little traffic is no failure. */
const MIN_PERIOD_MS = 10_000;
const MIN_REFUSED = 10;
/** Requests without a token, and those that are refused before it is verified. */
const WITHOUT_TOKEN = new Set(['token_missing', 'origin_not_allowed']);

/**
 * Returns a function that logs one line a minute while more than half of the tokens are refused for one reason: the clock of this machine,
 * the issuer or its keys may be wrong. It takes the counts of all workers, see `RequestMetrics.authorizations`.
 */
export function createTokenRefusalCheck(logger: Log['logger']) {
  // The counts at the start of the period.
  let previous: ReadonlyMap<string, number> = new Map();
  let startMs = performance.now();
  // True if the period began with a line.
  let isReported = false;
  return (counts: ReadonlyMap<string, number>, nowMs = performance.now()): void => {
    const periodMs = nowMs - startMs;
    if (periodMs < (isReported ? INTERVAL_MS : MIN_PERIOD_MS)) return;
    const results = [...counts]
      .filter(([result]) => !WITHOUT_TOKEN.has(result))
      .map(([result, count]) => ({ reason: result, refused: count - (previous.get(result) ?? 0) }));
    const tokens = results.reduce((sum, { refused }) => sum + refused, 0);
    const worst = results.find(({ reason, refused }) => reason !== 'allowed' && refused > tokens / 2);
    const isFailing = worst !== undefined && worst.refused >= MIN_REFUSED;
    if (!isFailing && periodMs < INTERVAL_MS) return;
    if (isFailing)
      logger.warn(
        { ...worst, tokens, seconds: Math.round(periodMs / 1_000) },
        'more than half of the tokens are refused for one reason; check the clock, the issuer and its keys',
      );
    isReported = isFailing;
    previous = counts;
    startMs = nowMs;
  };
}
