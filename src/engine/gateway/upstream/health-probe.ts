import type { Dial } from '../../http1/dial.ts';
import { RestartableTimeout } from '../../http1/event-loop.ts';
import { fetchResponse, NO_CONNECTION_TIMEOUTS, ResponseTooLargeError } from '../../http1/fetch-response.ts';
import { Http1Error } from '../../http1/http1-error.ts';
import { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { HealthCheckSettings } from '../../settings/upstream-definition.ts';

const MAX_BODY_BYTES = 65_536;

/** Probes an endpoint. Each probe opens a new connection, because a healthy endpoint must accept connections. */
export class HealthProbe {
  readonly #host: string;
  readonly #dial: Dial;
  readonly #settings: HealthCheckSettings;
  readonly #responseHeadLimitBytes: number;
  /** Ends the current probe. */
  #abort = (_reason: Error) => {};

  constructor(host: string, dial: Dial, settings: HealthCheckSettings, responseHeadLimitBytes: number) {
    this.#host = host;
    this.#dial = dial;
    this.#settings = settings;
    this.#responseHeadLimitBytes = responseHeadLimitBytes;
  }

  /** Returns the reason if the endpoint is not healthy. Rejects if the connection or the exchange fails, or takes too long. */
  async send(): Promise<string | undefined> {
    const { path, timeoutMs } = this.#settings;
    const reason = path === undefined ? 'connect_timeout' : 'response_timeout';
    const timeout = new RestartableTimeout(timeoutMs, () => this.#abort(new Http1Error(reason))).start();
    try {
      if (path === undefined) return await this.#connect();
      const status = await this.#request(path);
      return status >= 200 && status < 300 ? undefined : `upstream_status_${status}`;
    } finally {
      timeout.close();
    }
  }

  close(): void {
    this.#abort(new Http1Error('connection_closed'));
  }

  /** Opens a connection, for https including the TLS handshake, and closes it. */
  #connect(): Promise<undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const socket = this.#dial({ onOpen: () => resolve(undefined), onBytes: () => undefined }, false);
    this.#abort = (reason) => void socket.destroy(reason);
    socket.on('error', reject).on('close', () => reject(new Http1Error('connection_closed')));
    return promise.finally(() => socket.destroy());
  }

  /** Returns the status of the response. It must be complete, or longer than 64 kB. */
  async #request(path: string): Promise<number> {
    const connection = new UpstreamConnection({
      ...NO_CONNECTION_TIMEOUTS,
      dial: this.#dial,
      responseHeadLimitBytes: this.#responseHeadLimitBytes,
      isForTunnel: false,
      onClosed: () => undefined,
    });
    this.#abort = (reason) => connection.abort(reason);
    const headers = ['Host', this.#host, 'User-Agent', 'signing-gateway'];
    try {
      const request = { method: 'GET', path, headers, body: null };
      return (await fetchResponse(connection, request, { maxBytes: MAX_BODY_BYTES })).status;
    } catch (error) {
      // The rest of a long body does not change the result.
      if (error instanceof ResponseTooLargeError) return error.status;
      throw error;
    } finally {
      connection.destroy();
    }
  }
}
