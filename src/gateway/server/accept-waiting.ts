import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpServer } from './http-server.ts';

/** Under a flood of connections the queue never gets empty. */
const MAX_WAIT_MS = 500;

/**
 * Accepts the connections that wait in the kernel, which resets them when the listener closes. Resolves after a turn of the event loop
 * that has found none: Node accepts one connection in a turn.
 */
export async function acceptWaiting(server: HttpServer): Promise<void> {
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  server.on('connection', count);
  const endMs = performance.now() + MAX_WAIT_MS;
  // This turn may be over already, so the first complete turn is the next one.
  await nextTurn();
  for (let before = -1; before !== accepted && performance.now() < endMs; ) {
    before = accepted;
    await nextTurn();
  }
  server.off('connection', count);
}
