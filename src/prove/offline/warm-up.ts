import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createGateway } from '../../engine/gateway/gateway.ts';
import { type CompileInput, compileFromInput } from '../../engine/load.ts';
import { createNullLog } from '../../engine/log/log.ts';
import { runToEnd } from '../../engine/plan/sliced-work.ts';

/** The traffic of a warm-up, as plain data that a thread can receive. */
export interface WarmUpTraffic {
  readonly input: CompileInput;
  /** Each is served with 200 by the plan of the input. */
  readonly requests: readonly string[];
}

/** The interface of all connections of a warm-up. */
export const WARM_UP_HOST = '127.0.0.1';
const CONNECTIONS = 10;
/** Enough to load all modules and to compile each function once. V8 optimizes them with the first requests of clients. */
const REQUESTS_PER_CONNECTION = 3;
/** A busy machine does not wait longer. */
const TIME_LIMIT_MS = 2_000;

/**
 * Sends requests to a gateway of its own, so that the code that serves is loaded and compiled: first requests would take 80 ms. They are not
 * logged or counted, and use the loopback interface, because V8 would compile again for sockets. Throws if a request is not served.
 */
export async function warmUp({ input, requests }: WarmUpTraffic, stop?: AbortSignal): Promise<void> {
  const plan = runToEnd(compileFromInput(input, undefined));
  const gateway = createGateway(plan, createNullLog());
  const { port } = await gateway.listen({ host: WARM_UP_HOST, port: 0 });
  const deadline = performance.now() + TIME_LIMIT_MS;
  const isOver = () => stop?.aborted === true || performance.now() > deadline;
  try {
    await Promise.all(
      Array.from({ length: CONNECTIONS }, () => sendRequests(connect(port, WARM_UP_HOST), requests, isOver)),
    );
  } finally {
    await gateway.close(0);
  }
}

async function sendRequests(client: Socket, requests: readonly string[], isOver: () => boolean): Promise<void> {
  for (let count = 0; count < REQUESTS_PER_CONNECTION && !isOver(); count += 1) {
    client.write(requests[count % requests.length] as string);
    const [response] = await once(client, 'data');
    if (!String(response).startsWith('HTTP/1.1 200 ')) throw new Error('a request of the warm-up was not served');
  }
  client.destroy();
}
