import type { Duplex } from 'node:stream';
import type { UpstreamTls } from './upstream-tls.ts';

export interface BreakerSettings {
  /** Consecutive failures that open the breaker. */
  readonly failures: number;
  readonly pauseMs: number;
  /** True if the manifest does not mention it. Default breakers never take all endpoints out of service. */
  readonly isDefault: boolean;
}

export interface HealthCheckSettings {
  readonly path: string;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** So many good answers in a row make a target well again, and so many bad ones unwell. */
  readonly healthyThreshold: number;
  readonly unhealthyThreshold: number;
  /** While no target is well, the gateway says that it should get no requests. */
  readonly required: boolean;
}

export interface Endpoint {
  readonly url: URL;
  /** The origin as it may be printed: `${CONTACTS_URL}` where it came from the environment. No two of an upstream are equal. */
  readonly label: string;
  /** Whose certificate is asked for (SNI, RFC 6066 section 3); `undefined` for plain HTTP and for an address. */
  readonly serverName: string | undefined;
}

export interface Upstream {
  readonly id: string;
  /** Equal for equal definitions: what is kept for an upstream, connections above all, is kept by this. */
  readonly key: string;
  /** At least one. */
  readonly endpoints: readonly Endpoint[];
  readonly balance: 'round-robin' | 'least-pending';
  readonly connectTimeoutMs: number;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** `undefined`: an exchange may take as long as it goes on. */
  readonly totalTimeoutMs: number | undefined;
  /** How many connections to each target. */
  readonly connectionLimit: number;
  /** How many requests may wait for one. */
  readonly queueLimit: number;
  readonly retry: boolean;
  readonly health: HealthCheckSettings | undefined;
  readonly breaker: BreakerSettings | undefined;
  /** Behind a function, so that a plan that is printed shows no key. */
  readonly tls: () => UpstreamTls;
  /** Equal for equal certificates and keys. */
  readonly tlsKey: string;
  /** In place of the network: makes a connection to a target, by its origin. */
  readonly connect?: (origin: string) => Duplex;
}
