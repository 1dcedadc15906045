import { Agent, get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { scaledMs } from './slowness.ts';

/** Returns a manifest whose response has the version in a header. */
export function versionManifest(upstream: string, version: number, workers: number): string {
  return `version: 1
listen: 127.0.0.1:0
server: { workers: ${workers} }
upstreams: { up: { url: '${upstream}' } }
routes:
  - { id: one, method: GET, path: /one, upstream: up, access: public, responseHeaders: { set: { X-Version: '${version}' } } }
`;
}

export interface VersionLoad {
  /** The version that every request sent from now on must get, or a later one. */
  least: number;
  readonly sent: number;
  /** Requests without the right response. */
  readonly failures: readonly string[];
  /** True: an exchange may fail, because a worker ends on purpose. A response by an old version is a failure all the same. */
  allowsLosses: boolean;
  /** Waits for the responses to all requests in flight. */
  stop(): Promise<void>;
}

/**
 * Sends requests one after the other over each of several keep-alive connections, and over new connections. Each response on a
 * connection must have the version of the response before it or a later one, and at least the version `least` of the time when the
 * request was sent.
 */
export function startVersionLoad(port: number, connections: number): VersionLoad {
  const failures: string[] = [];
  const last = new WeakMap<Socket, number>();
  let isStopping = false;
  const load = { least: 0, sent: 0, failures, allowsLosses: false, stop };
  const sendOne = async (agent: Agent | false) => {
    const { least } = load;
    load.sent += 1;
    const [version, socket] = await versionOf(port, agent).catch((error: Error) => [error.message, undefined] as const);
    if (socket === undefined) {
      if (!load.allowsLosses) failures.push(`${version}`);
      return;
    }
    const previous = last.get(socket) ?? 0;
    if (!(version >= least)) failures.push(`version ${version} after ${least} was active`);
    if (!(version >= previous)) failures.push(`version ${version} after ${previous} on one connection`);
    last.set(socket, version);
  };
  const runOne = async (agent: Agent | false) => {
    while (!isStopping) await sendOne(agent);
    if (agent !== false) agent.destroy();
  };
  const agents = Array.from({ length: connections }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  const running = [false as const, ...agents].map(runOne);
  async function stop() {
    isStopping = true;
    await Promise.all(running);
  }
  return load;
}

/** Sends a request. Returns the version of the response and the connection. */
export function versionOf(port: number, agent: Agent | false): Promise<readonly [version: number, socket: Socket]> {
  return new Promise((resolve, reject) => {
    const onResponse = (response: IncomingMessage) => {
      const { socket } = response;
      response.resume();
      response.on('error', reject);
      response.on('end', () => resolve([Number(response.headers['x-version']), socket]));
    };
    const request = get({ agent, port, host: '127.0.0.1', path: '/one', timeout: scaledMs(30_000) }, onResponse);
    request.on('error', reject);
    request.on('timeout', () => request.destroy(new Error('no response within 30 s')));
  });
}
