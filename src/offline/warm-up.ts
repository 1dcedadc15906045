import { once } from 'node:events';
import { createGateway, type Gateway } from '../gateway/gateway.ts';
import { type CompileInput, compileFromInput } from '../load.ts';
import { createNullLog } from '../log/log.ts';
import { runToEnd } from '../plan/sliced-work.ts';
import { MemorySocket } from './memory-socket.ts';
import { offlinePlanOf } from './offline-gateway.ts';

/** The traffic of a warm-up, as plain data that a thread can receive. */
export interface WarmUpTraffic {
  readonly input: CompileInput;
  /** Each is served with 200 by the plan of the input. */
  readonly requests: readonly string[];
}

/** The first request of a connection takes another path through the server than later ones. */
const CONNECTIONS = 10;
const REQUESTS_PER_CONNECTION = 10;
/** A busy machine does not wait longer. */
const TIME_LIMIT_MS = 3_000;

const RESPONSE = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';

/**
 * Sends requests to a gateway of its own, over connections in memory, so that V8 loads and compiles the code that serves requests: the
 * first requests of a process take many times as long as later ones. They are not logged or counted.
 *
 * @param stop ends the warm-up early
 * @throws Error if a request is not served, which would leave the code cold
 */
export async function warmUp({ input, requests }: WarmUpTraffic, stop?: AbortSignal): Promise<void> {
  const plan = runToEnd(compileFromInput(input, undefined));
  const gateway = createGateway(offlinePlanOf(plan, plan.auth?.verifier, connectToUpstream), createNullLog());
  const deadline = performance.now() + TIME_LIMIT_MS;
  for (let count = 0; count < CONNECTIONS && performance.now() < deadline && stop?.aborted !== true; count += 1)
    await sendRequests(gateway, requests);
  await gateway.close(0);
}

async function sendRequests(gateway: Gateway, requests: readonly string[]): Promise<void> {
  const [client, server] = MemorySocket.pair();
  gateway.acceptConnection(server);
  for (let count = 0; count < REQUESTS_PER_CONNECTION; count += 1) {
    client.write(requests[count % requests.length] as string);
    const [response] = await once(client, 'data');
    if (!String(response).startsWith('HTTP/1.1 200 ')) throw new Error('a request of the warm-up was not served');
  }
  client.destroy();
}

function connectToUpstream(): MemorySocket {
  const [client, server] = MemorySocket.pair();
  server.on('data', () => server.write(RESPONSE));
  return client;
}
