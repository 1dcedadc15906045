import type { NameResolver } from '../../dns/name-resolver.ts';
import { createDial, type Dial } from '../../http1/dial.ts';
import { fetchResponse, ResponseTooLargeError } from '../../http1/fetch-response.ts';
import { Http1Error } from '../../http1/http1-error.ts';
import { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { Endpoint, Upstream } from '../../plan/settings/upstream-definition.ts';

const MAX_BODY_BYTES = 65_536;
const HEADERS = ['User-Agent', 'signing-gateway'];

/** Asks a target by itself, each time on a connection of its own: that it takes connections is part of its health. */
export class HealthProbe {
  readonly #host: string;
  readonly #dial: Dial;
  readonly #asked = new Set<UpstreamConnection>();

  constructor(target: Endpoint, upstream: Upstream, resolver: NameResolver) {
    this.#host = target.url.host;
    this.#dial = createDial(target, upstream, resolver);
  }

  /** Answers the status. Rejects when there is no whole answer within `timeoutMs`, or not so much of a long one. */
  async send(path: string, timeoutMs: number): Promise<number> {
    const limits = { responseTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs };
    const connection = new UpstreamConnection({
      dial: this.#dial,
      ...limits,
      isForTunnel: false,
      onClosed: () => undefined,
    });
    const late = setTimeout(() => connection.abort(new Http1Error('response_timeout')), timeoutMs);
    this.#asked.add(connection);
    const headers = ['Host', this.#host, ...HEADERS];
    try {
      const request = { method: 'GET', path, headers, body: null };
      const { status } = await fetchResponse(connection, request, { maxBytes: MAX_BODY_BYTES });
      return status;
    } catch (error) {
      // A page as long as this says no more by its end.
      if (error instanceof ResponseTooLargeError) return error.status;
      throw error;
    } finally {
      clearTimeout(late);
      this.#asked.delete(connection);
      connection.destroy();
    }
  }

  close(): void {
    for (const connection of this.#asked) connection.abort(new Http1Error('connection_closed'));
  }
}
