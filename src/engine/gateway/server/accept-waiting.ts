import { setImmediate as nextTurn } from 'node:timers/promises';
import { shortenBacklog } from '../../node-internals/tcp-handle.ts';
import type { ClientServer } from './client-server.ts';

/** The part of the time limit for connections that wait. The rest is for their requests. */
const SHARE = 0.5;

/** In a longer turn, more connections may have arrived since Node has read the queue. */
const SHORT_TURN_MS = 1;
/** On a busy machine no turn is short. Without a connection for this time, none waits. */
const SILENCE_MS = 100;

/**
 * Accepts the connections that wait in the kernel, which resets them when the listener closes. From now on the queue holds one
 * connection: the kernel drops the packets that would open more, and the client repeats them a second later. Resolves after a
 * short turn of the event loop, or a short silence, that has found no connection, because Node accepts one in a turn.
 *
 * @param graceMs the time until the remaining connections close
 */
export async function acceptWaiting(server: ClientServer, graceMs: number): Promise<void> {
  const endMs = performance.now() + graceMs * SHARE;
  shortenBacklog(server);
  let acceptedMs = performance.now();
  const onConnection = () => {
    acceptedMs = performance.now();
  };
  server.on('connection', onConnection);
  // This turn may be over already, so the first complete turn is the next one.
  await nextTurn();
  for (let isEmpty = false; !isEmpty && performance.now() < endMs; ) {
    const startMs = performance.now();
    await nextTurn();
    const nowMs = performance.now();
    isEmpty = acceptedMs < startMs && (nowMs - startMs < SHORT_TURN_MS || nowMs - acceptedMs > SILENCE_MS);
  }
  server.off('connection', onConnection);
}
