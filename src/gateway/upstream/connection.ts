import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher } from 'undici';
import type { Target, Upstream } from '../../plan/plan.ts';
import { repairParser } from './undici-parser.ts';

/** A connection to a target, made when it is first needed and made anew when it was closed; one exchange at a time. */
export class Connection {
  /** To be named in each request: otherwise undici would take the client's Host for whose certificate to ask. */
  readonly serverName: string;
  readonly #client: Client;
  #socket: Socket | undefined;
  /** How many exchanges the socket carried to their end. */
  #carried = 0;
  /** Bytes that the socket had given when the exchange in hand began. */
  #readBefore = 0;

  /** @param onEnd hears of each socket that was closed */
  constructor(target: Target, upstream: Upstream, connect: Connector, onEnd: (connection: Connection) => void) {
    this.serverName = target.serverName ?? target.url.hostname;
    // An address is no name that could be asked for (RFC 6066 section 3).
    const servername = target.serverName ?? '';
    this.#client = new Client(target.url.origin, {
      connect: (options, callback) =>
        connect({ ...options, servername }, (...made) => {
          this.#adopt(made[1]);
          callback(...made);
          repairParser(made[1]);
        }),
      headersTimeout: upstream.responseTimeoutMs,
      bodyTimeout: upstream.idleTimeoutMs,
      // undici 8 would offer HTTP/2 by itself; everything here is measured and tested with HTTP/1.1.
      allowH2: false,
      pipelining: 1,
    });
    this.#client.on('disconnect', () => onEnd(this));
    this.#client.on('connectionError', () => onEnd(this));
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** The exchange in hand is being written to the socket. */
  begin(): void {
    this.#readBefore = this.#socket?.bytesRead ?? 0;
  }

  /** The exchange in hand came to its end, and the next one may come. */
  end(): void {
    this.#carried += 1;
  }

  /**
   * Whether the socket was kept alive from an earlier exchange and gave no byte for the one in hand: the other
   * side may have closed it before it saw the request.
   */
  get isUnanswered(): boolean {
    return this.#carried > 0 && (this.#socket?.bytesRead ?? 0) === this.#readBefore;
  }

  /** Asks for a path by itself and answers the status. Rejects when there is no whole answer within `timeoutMs`. */
  async ask(path: string, timeoutMs: number): Promise<number> {
    const signal = AbortSignal.timeout(timeoutMs);
    const headers = { 'User-Agent': 'signing-gateway' };
    const { statusCode, body } = await this.#client.request({
      method: 'GET',
      path,
      headers,
      signal,
      servername: this.serverName,
    } as Dispatcher.RequestOptions);
    await body.dump({ limit: MAX_ASKED_BYTES, signal });
    return statusCode;
  }

  /** Lets the exchange in hand end, then closes. */
  close(): Promise<void> {
    return this.#client.close();
  }

  destroy(): void {
    void this.#client.destroy();
  }

  #adopt(socket: Socket | null | undefined): void {
    if (!socket) return;
    this.#socket = socket;
    this.#carried = 0;
    // undici takes a reset for the end of a body without framing; by another name it takes it for the fault it is.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET') error.code = 'UND_ERR_SOCKET';
    });
  }
}

const MAX_ASKED_BYTES = 65_536;

export type Connector = buildConnector.connector;

/** Makes what opens the sockets of a target; TLS sessions are shared among them. */
export function createConnector({ connectTimeoutMs, tls, connect }: Upstream): Connector {
  if (connect !== undefined)
    return ({ protocol, host }, callback) => setImmediate(callback, null, connect(`${protocol}//${host}`) as Socket);
  return buildConnector({ timeout: connectTimeoutMs, allowH2: false, ...tls() });
}
