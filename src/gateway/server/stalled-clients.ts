import type { ClientConnection } from './client-connection.ts';

/** How often clients are looked at within the time that they have. */
const CHECKS = 8;
const MAX_INTERVAL_MS = 5_000;

/**
 * Cuts off clients that keep the gateway waiting for longer than the limit. It looks at all connections now and
 * then: a timer for each request would cost every request, for the few that stall. Looks are counted and not the
 * time, since a process that was held up itself would take all of its clients for stalled.
 *
 * @returns ends it
 */
export function closeStalledClients(
  connections: ReadonlyMap<unknown, ClientConnection>,
  limitMs: () => number,
): () => void {
  const intervalMs = () => Math.min(limitMs() / CHECKS, MAX_INTERVAL_MS);
  const look = () => {
    const looks = limitMs() / intervalMs();
    for (const connection of connections.values()) {
      if (connection.checkProgress() < looks) continue;
      connection.isStalled = true;
      connection.reset();
    }
    timer = later();
  };
  const later = () => setTimeout(look, intervalMs()).unref();
  let timer = later();
  return () => clearTimeout(timer);
}
