/** The addresses and credentials of Redis. */
export interface RedisSettings {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  /** The URLs of the server, of the Sentinel servers, or of nodes of the cluster, without credentials. */
  readonly urls: readonly string[];
  /** The name of the primary, for Sentinel. */
  readonly name: string | undefined;
  readonly database: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** The user of the Sentinel servers; `undefined` if they need none. */
  readonly sentinelUser: { readonly username: string | undefined; readonly password: string | undefined } | undefined;
  /** The certificate authorities in PEM; `undefined`: those of Node. */
  readonly ca: string | undefined;
}

/** A compiled store: counters that several gateways share. */
export interface CounterStore {
  readonly id: string;
  /** A hash, equal for equal definitions. A reload keeps the connections of stores with an equal key. */
  readonly key: string;
  /** A function, so that a printed plan contains no password. */
  readonly redis: () => RedisSettings;
  /** The key of the HMAC that replaces values before they leave the process. A function for the same reason. */
  readonly secret: () => string;
  /** The time limit of a decision. */
  readonly timeoutMs: number;
  readonly onFailure: 'local' | 'refuse';
}
