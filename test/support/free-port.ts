import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that the kernel gives to listeners on port 0 and to clients, so that none of them takes a free port first. */
const FIRST_PORT = 15_000;
const END_PORT = 30_000;

/** Returns a free port, for a process that needs a fixed port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, END_PORT);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch {
      continue;
    }
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
