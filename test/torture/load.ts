import { Agent, request } from 'node:http';
import { scaledMs } from '../support/slowness.ts';

/** A response, or the reason for its absence. */
export interface LoadResult {
  readonly path: string;
  readonly status: number;
  readonly version: number;
  readonly failure: string | undefined;
}

export interface Load {
  /** Stops sending and waits for the responses to all requests in flight. */
  stop(): Promise<{ readonly sent: number }>;
}

/**
 * Sends requests at a constant rate over keep-alive connections, however slow the responses are.
 *
 * @param onSend called for each request; the function that it returns receives the result
 */
export function startLoad(
  port: number,
  perSecond: number,
  paths: readonly string[],
  onSend: () => (result: LoadResult) => void,
): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const start = performance.now();
  const inFlight = new Set<Promise<void>>();
  let sent = 0;
  const sendNext = () => {
    const path = paths[sent % paths.length] ?? '/';
    sent += 1;
    const onResult = onSend();
    const exchange = send(agent, port, path).then(onResult);
    inFlight.add(exchange);
    void exchange.finally(() => inFlight.delete(exchange));
  };
  const timer = setInterval(() => {
    while (sent < ((performance.now() - start) / 1000) * perSecond) sendNext();
  }, 1);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(inFlight);
      agent.destroy();
      return { sent };
    },
  };
}

function send(agent: Agent, port: number, path: string): Promise<LoadResult> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ path, status: 0, version: Number.NaN, failure: error.message });
    const outgoing = request({ agent, port, host: '127.0.0.1', path, timeout: scaledMs(30_000) }, (response) => {
      response.resume();
      response.on('error', fail);
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        resolve({ path, status, version: Number(response.headers['x-version']), failure: undefined });
      });
    });
    outgoing.on('error', fail).on('timeout', () => outgoing.destroy(new Error('no response within 30 s')));
    outgoing.end();
  });
}
