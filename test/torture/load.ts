import { Agent, request } from 'node:http';

/** An answer, or why there was none. */
export interface Got {
  readonly path: string;
  readonly status: number;
  readonly version: number;
  readonly failure: string | undefined;
}

export interface Load {
  /** Ends it, once every request that was sent has its answer. */
  stop(): Promise<{ readonly sent: number }>;
}

/**
 * Sends requests at an even pace over kept-alive connections, however long the answers take.
 *
 * @param begin is called as each is sent, and answers what is to hear of its answer
 */
export function startLoad(
  port: number,
  perSecond: number,
  paths: readonly string[],
  begin: () => (got: Got) => void,
): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const start = performance.now();
  const flying = new Set<Promise<void>>();
  let sent = 0;
  const send = () => {
    const path = paths[sent % paths.length] ?? '/';
    sent += 1;
    const tell = begin();
    const one = ask(agent, port, path).then(tell);
    flying.add(one);
    void one.finally(() => flying.delete(one));
  };
  const timer = setInterval(() => {
    while (sent < ((performance.now() - start) / 1000) * perSecond) send();
  }, 1);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(flying);
      agent.destroy();
      return { sent };
    },
  };
}

function ask(agent: Agent, port: number, path: string): Promise<Got> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve({ path, status: 0, version: Number.NaN, failure: error.message });
    const asked = request({ agent, port, host: '127.0.0.1', path, timeout: 30_000 }, (response) => {
      response.resume();
      response.on('error', fail);
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        resolve({ path, status, version: Number(response.headers['x-version']), failure: undefined });
      });
    });
    asked.on('error', fail).on('timeout', () => asked.destroy(new Error('no answer within 30 s')));
    asked.end();
  });
}
