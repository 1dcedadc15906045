import type { GatewayConnection } from './gateway-connection.ts';

/** The number of checks within the time limit. */
const CHECKS = 8;
const MAX_INTERVAL_MS = 5_000;
/** The interval between checks of the time limits of requests. */
const TIMEOUT_CHECK_MS = 1_000;

/**
 * Closes the connections of clients that make no progress within the limit, and those that exceed the time limits of requests or of idle
 * connections. It checks all connections at intervals, because a timer would add a cost to every request.
 *
 * @returns a function that stops the checks
 */
export function closeLateClients(connections: Iterable<GatewayConnection>, limitMs: () => number): () => void {
  const intervalMs = () => Math.min(limitMs() / CHECKS, MAX_INTERVAL_MS);
  // It counts checks instead of time. Otherwise a process that was itself blocked would consider all clients stalled.
  const checkProgress = () => {
    const maxChecks = limitMs() / intervalMs();
    for (const connection of connections) {
      if (connection.checkProgress() < maxChecks) continue;
      connection.isStalled = true;
      connection.reset();
    }
    progressTimer = schedule();
  };
  const schedule = () => setTimeout(checkProgress, intervalMs()).unref();
  let progressTimer = schedule();
  const checkTimeouts = () => {
    const nowMs = performance.now();
    for (const connection of connections) connection.checkTimeouts(nowMs);
  };
  // All sockets are read first, because their bytes may have waited while the process stood still.
  const timer = setInterval(() => setImmediate(checkTimeouts), TIMEOUT_CHECK_MS).unref();
  return () => {
    clearTimeout(progressTimer);
    clearInterval(timer);
  };
}
