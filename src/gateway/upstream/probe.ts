import type { NameResolver } from '../../dns/resolver.ts';
import type { CallUser } from '../../http1/call.ts';
import { Connection } from '../../http1/connection.ts';
import { createDial, type Dial } from '../../http1/dial.ts';
import { WireError } from '../../http1/wire-error.ts';
import type { Target, Upstream } from '../../plan/plan.ts';

const ENOUGH_BYTES = 65_536;
const HEADERS = ['User-Agent', 'signing-gateway'];

/** Asks a target by itself, each time on a connection of its own: that it takes connections is part of its health. */
export class Prober {
  readonly #host: string;
  readonly #dial: Dial;
  readonly #asked = new Set<Connection>();

  constructor(target: Target, upstream: Upstream, resolver: NameResolver) {
    this.#host = target.url.host;
    this.#dial = createDial(target, upstream, resolver);
  }

  /** Answers the status. Rejects when there is no whole answer within `timeoutMs`, or not so much of a long one. */
  async ask(path: string, timeoutMs: number): Promise<number> {
    const limits = { responseTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs };
    const connection = new Connection({ dial: this.#dial, ...limits, isForTunnel: false, onClosed: () => undefined });
    const late = setTimeout(() => connection.abort(new WireError('response_timeout')), timeoutMs);
    this.#asked.add(connection);
    const headers = ['Host', this.#host, ...HEADERS];
    const request = { method: 'GET', path, headers, length: undefined, body: null };
    try {
      return await new Promise<number>((resolve, reject) => {
        const user = probeUser(resolve, reject);
        connection.send({ ...request, isHandshake: false, hasResponseLimit: true }, user);
      });
    } finally {
      clearTimeout(late);
      this.#asked.delete(connection);
      connection.destroy();
    }
  }

  close(): void {
    for (const connection of this.#asked) connection.abort(new WireError('connection_closed'));
  }
}

function probeUser(resolve: (status: number) => void, reject: (error: Error) => void): CallUser {
  let status = 0;
  let left = ENOUGH_BYTES;
  return {
    onBegin: () => undefined,
    onStale: () => reject(new WireError('connection_closed')),
    onHead: (head) => {
      status = head.status;
    },
    onData: (bytes) => {
      left -= bytes.length;
      // A page as long as this says no more by its end.
      if (left < 0) resolve(status);
    },
    onWaiting: () => undefined,
    onEnd: () => resolve(status),
    onSwitch: (_head, socket) => {
      socket.destroy();
      reject(new WireError('answer_upgrade_unasked'));
    },
    onError: reject,
  };
}
