import type { Duplex } from 'node:stream';

export interface BreakerSettings {
  /** Consecutive failures that open the breaker. */
  readonly failures: number;
  readonly pauseMs: number;
  /** True if the manifest does not configure it. Default breakers never take all endpoints out of service. */
  readonly isDefault: boolean;
}

export interface HealthCheckSettings {
  /** `undefined` if a check only opens a connection. */
  readonly path: string | undefined;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Consecutive successes after which an endpoint is healthy, and consecutive failures after which it is unhealthy. */
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  /** True if the gateway reports that it is not ready while no endpoint is healthy. */
  readonly required: boolean;
}

export interface Endpoint {
  readonly url: URL;
  /** The origin as it may be printed: `${CONTACTS_URL}` if it came from the environment. Unique within the upstream. */
  readonly label: string;
  /** The name for SNI (RFC 6066 section 3) and the certificate; `undefined` for plain HTTP and for IP addresses. */
  readonly serverName: string | undefined;
}

/** PEM texts for the TLS library, which uses its default for each absent one. */
export interface UpstreamTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export interface Upstream {
  readonly id: string;
  /** Equal for equal definitions. A reload keeps the connections of upstreams with an equal key. */
  readonly key: string;
  /** At least one. */
  readonly endpoints: readonly Endpoint[];
  /** The `Host` of requests: `client` and `upstream` stand for that of the client and of the endpoint. */
  readonly host: string;
  readonly balance: 'round-robin' | 'least-pending';
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** The idle timeout of an event stream; 0: no limit. */
  readonly eventStreamTimeoutMs: number;
  /** `undefined` if an exchange may take any time. */
  readonly totalTimeoutMs: number | undefined;
  /** Connections to each endpoint. */
  readonly connectionLimit: number;
  /** Requests that may wait for a connection. */
  readonly queueLimit: number;
  readonly responseHeadLimitBytes: number;
  readonly retry: boolean;
  readonly health: HealthCheckSettings | undefined;
  readonly breaker: BreakerSettings | undefined;
  /** A function, so that a printed plan contains no private key. */
  readonly tls: () => UpstreamTls;
  /** Equal for equal certificates and keys. */
  readonly tlsKey: string;
  /** Opens a connection to an origin in memory, in place of the network. */
  readonly connect?: (origin: string) => Duplex;
}
