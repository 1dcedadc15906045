import type { NameResolver } from '../../dns/name-resolver.ts';
import { createDial, type Dial } from '../../http1/dial.ts';
import { fetchResponse, ResponseTooLargeError } from '../../http1/fetch-response.ts';
import { Http1Error } from '../../http1/http1-error.ts';
import { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { Endpoint, Upstream } from '../../plan/settings/upstream-definition.ts';

const MAX_BODY_BYTES = 65_536;
const HEADERS = ['User-Agent', 'signing-gateway'];

/** Requests the health page of an endpoint. Each probe opens a new connection, because a healthy endpoint must accept connections. */
export class HealthProbe {
  readonly #host: string;
  readonly #dial: Dial;
  readonly #connections = new Set<UpstreamConnection>();

  constructor(endpoint: Endpoint, upstream: Upstream, resolver: NameResolver) {
    this.#host = endpoint.url.host;
    this.#dial = createDial(endpoint, upstream, resolver);
  }

  /** Returns the status. Rejects if the response is neither complete nor longer than 64 kB within `timeoutMs`. */
  async send(path: string, timeoutMs: number): Promise<number> {
    const connection = new UpstreamConnection({
      dial: this.#dial,
      responseTimeoutMs: timeoutMs,
      idleTimeoutMs: timeoutMs,
      isForTunnel: false,
      onClosed: () => undefined,
    });
    const timer = setTimeout(() => connection.abort(new Http1Error('response_timeout')), timeoutMs);
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
      clearTimeout(timer);
      this.#connections.delete(connection);
      connection.destroy();
    }
  }

  close(): void {
    for (const connection of this.#connections) connection.abort(new Http1Error('connection_closed'));
  }
}
