import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpServer } from './http-server.ts';

/** Long enough for a full queue on a busy machine. */
const MAX_WAIT_MS = 2_000;

/** In a longer turn, more connections may have arrived since Node has read the queue. */
const SHORT_TURN_MS = 1;

/** The part of Node's server that changes the length of its queue. Node does not document it, so it may be absent. */
interface ListeningServer {
  readonly _handle?: { readonly listen?: (backlog: number) => number } | null;
}

/**
 * Accepts the connections that wait in the kernel, which resets them when the listener closes. From now on the queue holds one
 * connection: the kernel drops the packets that would open more, and the client repeats them a second later. Resolves after a
 * short turn of the event loop that has found no connection, because Node accepts one in a turn.
 *
 * @param maxMs a shorter time limit
 */
export async function acceptWaiting(server: HttpServer, maxMs: number): Promise<void> {
  const endMs = performance.now() + Math.min(maxMs, MAX_WAIT_MS);
  // A second listen(2) only changes the length of the queue.
  (server as ListeningServer)._handle?.listen?.(0);
  let hasAccepted = false;
  const onConnection = () => {
    hasAccepted = true;
  };
  server.on('connection', onConnection);
  // This turn may be over already, so the first complete turn is the next one.
  await nextTurn();
  for (let isEmpty = false; !isEmpty && performance.now() < endMs; ) {
    hasAccepted = false;
    const startMs = performance.now();
    await nextTurn();
    isEmpty = !hasAccepted && performance.now() - startMs < SHORT_TURN_MS;
  }
  server.off('connection', onConnection);
}
