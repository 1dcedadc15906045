import type { Dial } from '../../http1/dial.ts';
import { RestartableTimeout, standstills } from '../../http1/event-loop.ts';
import { fetchResponse, NO_CONNECTION_TIMEOUTS, ResponseTooLargeError } from '../../http1/fetch-response.ts';
import { Http1Error } from '../../http1/http1-error.ts';
import { UpstreamConnection } from '../../http1/upstream-connection.ts';
import type { HealthCheckSettings } from '../../settings/upstream-definition.ts';
import { type BufferParts, privateParts } from '../../shared-memory/buffer-parts.ts';
import { SharedText, textMemory } from '../../shared-memory/shared-text.ts';
import { failureSourceOf, toRefusal } from './upstream-error.ts';

/** `unknown`: no check and no request has shown yet, or recently, if requests to the endpoint succeed. */
export const HEALTH_STATES = ['unknown', 'healthy', 'unhealthy'] as const;

export type HealthState = (typeof HEALTH_STATES)[number];

const MAX_BODY_BYTES = 65_536;

export function healthCheckMemory(parts: BufferParts) {
  // The index of the state, and the reason of the latest failure.
  return { state: parts.int32(1), reason: textMemory(parts) };
}

/** The result of a check, which one worker writes and all workers read. */
type HealthCheckMemory = ReturnType<typeof healthCheckMemory>;

interface CheckedServer {
  readonly host: string;
  readonly dial: Dial;
  readonly responseHeadLimitBytes: number;
}

/**
 * Probes an endpoint at an interval. The state changes after enough consecutive results agree. Only one worker starts the check;
 * the others read its state. Each probe opens a new connection, because a healthy endpoint must accept connections.
 */
export class HealthCheck {
  readonly #settings: HealthCheckSettings;
  readonly #server: CheckedServer;
  readonly #onChange: () => void;
  readonly #state: Int32Array;
  readonly #reason: SharedText;
  /** Consecutive results that contradict the state. */
  #contradictions = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  /** Ends the current probe. */
  #abort = (_reason: Error) => {};

  constructor(
    settings: HealthCheckSettings,
    server: CheckedServer,
    onChange: () => void,
    { state, reason }: HealthCheckMemory = privateParts(healthCheckMemory),
  ) {
    this.#settings = settings;
    this.#server = server;
    this.#onChange = onChange;
    this.#state = state;
    this.#reason = new SharedText(reason);
  }

  /** Unknown until the first success, or until enough failures. */
  get state(): HealthState {
    return HEALTH_STATES[this.#state[0] as number] as HealthState;
  }

  /** The reason of the latest failure; `undefined` unless the state is unhealthy. */
  get reason(): string | undefined {
    return this.state === 'unhealthy' ? this.#reason.value : undefined;
  }

  start(): void {
    void this.#check();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#abort(new Http1Error('connection_closed'));
  }

  async #check(): Promise<void> {
    const { count } = standstills;
    let reason: string | undefined;
    let isUnknown = false;
    try {
      const status = await this.#probe();
      if (status < 200 || status >= 300) reason = `upstream_status_${status}`;
    } catch (error) {
      reason = toRefusal(error as Error).reason;
      isUnknown = failureSourceOf((error as NodeJS.ErrnoException).code ?? '') === 'gateway';
    }
    if (this.#isStopped) return;
    // A gateway without file descriptors, or one that stood still, learns nothing about the endpoint.
    if (reason === undefined || !(isUnknown || standstills.hasHappenedSince(count))) this.#record(reason);
    this.#timer = setTimeout(() => void this.#check(), this.#settings.intervalMs).unref();
  }

  /** Returns a status. Rejects if the connection or the exchange fails, or takes too long. */
  async #probe(): Promise<number> {
    const { path, timeoutMs } = this.#settings;
    const reason = path === undefined ? 'connect_timeout' : 'response_timeout';
    const timeout = new RestartableTimeout(timeoutMs, () => this.#abort(new Http1Error(reason))).start();
    try {
      return await (path === undefined ? this.#connect() : this.#request(path));
    } finally {
      timeout.close();
    }
  }

  /** Opens a connection, for https including the TLS handshake, and closes it. */
  #connect(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const socket = this.#server.dial({ onOpen: () => resolve(200), onBytes: () => undefined }, false);
    this.#abort = (reason) => void socket.destroy(reason);
    socket.on('error', reject).on('close', () => reject(new Http1Error('connection_closed')));
    return promise.finally(() => socket.destroy());
  }

  /** Returns the status of the response. It must be complete, or longer than 64 kB. */
  async #request(path: string): Promise<number> {
    const { host, dial, responseHeadLimitBytes } = this.#server;
    const connection = new UpstreamConnection({
      ...NO_CONNECTION_TIMEOUTS,
      dial,
      responseHeadLimitBytes,
      isForTunnel: false,
      onClosed: () => undefined,
    });
    this.#abort = (reason) => connection.abort(reason);
    const headers = ['Host', host, 'User-Agent', 'signing-gateway'];
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

  #record(reason: string | undefined): void {
    const result = reason === undefined ? 'healthy' : 'unhealthy';
    if (reason !== undefined) this.#reason.set(reason);
    this.#contradictions = result === this.state ? 0 : this.#contradictions + 1;
    if (result === this.state || this.#contradictions < this.#threshold(result)) return;
    this.#contradictions = 0;
    Atomics.store(this.#state, 0, HEALTH_STATES.indexOf(result));
    this.#onChange();
  }

  #threshold(result: HealthState): number {
    const { healthyThreshold, unhealthyThreshold } = this.#settings;
    if (result === 'unhealthy') return unhealthyThreshold;
    // A first success contradicts no earlier result.
    return this.state === 'unknown' ? 1 : healthyThreshold;
  }
}
