import type { Duplex } from 'node:stream';
import type { NameResolver } from '../../dns/name-resolver.ts';
import { createDial, type Dial, hostHeaderOf } from '../../http1/dial.ts';
import { RestartableTimeout } from '../../http1/event-loop.ts';
import { fetchResponse, ResponseTooLargeError } from '../../http1/fetch-response.ts';
import { Http1Error } from '../../http1/http1-error.ts';
import { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { Endpoint, HealthCheckSettings, Upstream } from '../../settings/upstream-definition.ts';

const MAX_BODY_BYTES = 65_536;
const HEADERS = ['User-Agent', 'signing-gateway'];

/** Probes an endpoint. Each probe opens a new connection, because a healthy endpoint must accept connections. */
export class HealthProbe {
  readonly #host: string;
  readonly #dial: Dial;
  readonly #settings: HealthCheckSettings;
  readonly #responseHeadLimitBytes: number;
  readonly #connections = new Set<UpstreamConnection>();
  readonly #sockets = new Set<Duplex>();

  constructor(endpoint: Endpoint, upstream: Upstream, settings: HealthCheckSettings, resolver: NameResolver) {
    this.#host = hostHeaderOf(endpoint.url);
    this.#dial = createDial(endpoint, upstream, resolver);
    this.#settings = settings;
    this.#responseHeadLimitBytes = upstream.responseHeadLimitBytes;
  }

  /** Returns the reason if the endpoint is not healthy. Rejects if the connection or the exchange fails. */
  async send(): Promise<string | undefined> {
    const { path } = this.#settings;
    if (path === undefined) return this.#connect();
    const status = await this.#request(path);
    return status >= 200 && status < 300 ? undefined : `upstream_status_${status}`;
  }

  close(): void {
    for (const connection of this.#connections) connection.abort(new Http1Error('connection_closed'));
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Opens a connection, for https including the TLS handshake, and closes it. */
  async #connect(): Promise<undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const socket = this.#dial({ onOpen: () => resolve(undefined), onBytes: () => undefined }, false);
    const onTimeout = () => void socket.destroy(new Http1Error('connect_timeout'));
    const timeout = new RestartableTimeout(this.#settings.timeoutMs, onTimeout).start();
    this.#sockets.add(socket);
    socket.on('error', reject);
    socket.on('close', () => reject(new Http1Error('connection_closed')));
    try {
      return await promise;
    } finally {
      timeout.close();
      this.#sockets.delete(socket);
      socket.destroy();
    }
  }

  /** Returns the status. Rejects if the response is neither complete nor longer than 64 kB in time. */
  async #request(path: string): Promise<number> {
    const { timeoutMs } = this.#settings;
    const connection = new UpstreamConnection({
      dial: this.#dial,
      responseTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      responseHeadLimitBytes: this.#responseHeadLimitBytes,
      isForTunnel: false,
      onClosed: () => undefined,
    });
    const onTimeout = () => connection.abort(new Http1Error('response_timeout'));
    const timeout = new RestartableTimeout(timeoutMs, onTimeout).start();
    this.#connections.add(connection);
    const headers = ['Host', this.#host, ...HEADERS];
    try {
      const request = { method: 'GET', path, headers, body: null };
      const { status } = await fetchResponse(connection, request, { maxBytes: MAX_BODY_BYTES });
      return status;
    } catch (error) {
      // The rest of a long body does not change the result.
      if (error instanceof ResponseTooLargeError) return error.status;
      throw error;
    } finally {
      timeout.close();
      this.#connections.delete(connection);
      connection.destroy();
    }
  }
}
