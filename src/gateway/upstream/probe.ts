import { Connection } from '../../http1/connection.ts';
import { createDial, type Dial } from '../../http1/dial.ts';
import { fetchWhole, TooLong } from '../../http1/fetch-whole.ts';
import { WireError } from '../../http1/wire-error.ts';
import type { Target, Upstream } from '../../plan/plan.ts';

const ENOUGH_BYTES = 65_536;
const HEADERS = ['User-Agent', 'signing-gateway'];

/** Asks a target by itself, each time on a connection of its own: that it takes connections is part of its health. */
export class Prober {
  readonly #host: string;
  readonly #dial: Dial;
  readonly #asked = new Set<Connection>();

  constructor(target: Target, upstream: Upstream) {
    this.#host = target.url.host;
    this.#dial = createDial(target, upstream);
  }

  /** Answers the status. Rejects when there is no whole answer within `timeoutMs`, or not so much of a long one. */
  async ask(path: string, timeoutMs: number): Promise<number> {
    const limits = { responseTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs };
    const connection = new Connection({ dial: this.#dial, ...limits, isForTunnel: false, onClosed: () => undefined });
    const late = setTimeout(() => connection.abort(new WireError('response_timeout')), timeoutMs);
    this.#asked.add(connection);
    const headers = ['Host', this.#host, ...HEADERS];
    try {
      const { status } = await fetchWhole(connection, { method: 'GET', path, headers, body: null }, ENOUGH_BYTES);
      return status;
    } catch (error) {
      // A page as long as this says no more by its end.
      if (error instanceof TooLong) return error.status;
      throw error;
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
