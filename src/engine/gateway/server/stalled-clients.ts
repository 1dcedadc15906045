import type { GatewayConnection } from './gateway-connection.ts';

/** The number of checks within the time limit. */
const CHECKS = 8;
const MAX_INTERVAL_MS = 5_000;
/** The interval between checks of the time limits of requests. */
const TIMEOUT_CHECK_MS = 1_000;

/**
 * Closes the connections of clients that make no progress within the limit. It checks all connections at an interval, because
 * a timer would add a cost to every request. It counts checks instead of time. Otherwise a process that was itself blocked
 * would consider all clients stalled.
 *
 * @returns a function that stops the checks
 */
export function closeStalledClients(connections: Iterable<GatewayConnection>, limitMs: () => number): () => void {
  const intervalMs = () => Math.min(limitMs() / CHECKS, MAX_INTERVAL_MS);
  const check = () => {
    const maxChecks = limitMs() / intervalMs();
    for (const connection of connections) {
      if (connection.checkProgress() < maxChecks) continue;
      connection.isStalled = true;
      connection.reset();
    }
    timer = schedule();
  };
  const schedule = () => setTimeout(check, intervalMs()).unref();
  let timer = schedule();
  return () => clearTimeout(timer);
}

/**
 * Checks the time limits of requests and idle connections at an interval. It reads all sockets first, because their bytes may have waited
 * while the process stood still.
 *
 * @returns a function that stops the checks
 */
export function closeLateClients(connections: Iterable<GatewayConnection>): () => void {
  const check = () => {
    const nowMs = performance.now();
    for (const connection of connections) connection.checkTimeouts(nowMs);
  };
  const timer = setInterval(() => setImmediate(check), TIMEOUT_CHECK_MS).unref();
  return () => clearInterval(timer);
}
