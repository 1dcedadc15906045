import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type NameResolver, systemResolver } from '../dns/name-resolver.ts';
import type { CarrierSocket } from '../http1/client-connection.ts';
import { ConnectionBudget } from '../http1/connection-pool.ts';
import { standstills } from '../http1/event-loop.ts';
import { type Log, ThrottledWarning } from '../log/log.ts';
import { assertTcpHandle } from '../node-internals/tcp-handle.ts';
import type { Plan } from '../plan/plan.ts';
import { limitBuffer } from '../rate-limits/limit-buffer.ts';
import type { StoreStatus } from '../rate-limits/rate-limit.ts';
import { RateLimiter } from '../rate-limits/rate-limiter.ts';
import type { ListenAddress } from '../settings/address.ts';
import type { BufferDefinition } from '../shared-memory/buffer-parts.ts';
import { createSingleWorker, sharedNow, type WorkerContext } from '../shared-memory/worker-context.ts';
import type { ExchangeObserver } from './exchange.ts';
import { type GatewayCounters, gatewayBuffer, sharedGatewayCounters } from './gateway-counters.ts';
import { RequestAcceptor, type ServerState } from './serve.ts';
import { acceptWaiting } from './server/accept-waiting.ts';
import type { BufferBudget } from './server/buffer-budget.ts';
import { ClientLimit } from './server/client-limit.ts';
import {
  activateServerSettings,
  type ClientServer,
  closeLateClients,
  createClientServer,
} from './server/client-server.ts';
import { descriptorLimits, requiredDescriptors } from './server/descriptor-limits.ts';
import { LongLivedExchanges } from './server/long-lived-exchanges.ts';
import { listenOnSocket } from './server/socket-file.ts';
import { logIdentityDnsErrors } from './telemetry/identity-dns-log.ts';
import { requestBuffer } from './telemetry/request-counters.ts';
import { RequestMetrics } from './telemetry/request-metrics.ts';
import type { RequestTracer } from './telemetry/request-record.ts';
import { RequestRecorder, type RequestSubscriber } from './telemetry/request-recorder.ts';
import { LiveUpstreams } from './upstream/live-upstreams.ts';
import { upstreamBuffer } from './upstream/upstream-memory.ts';

interface GatewayOptions {
  /** Records traces. By default they are only passed on. */
  readonly tracer?: RequestTracer | undefined;
  /** Resolves the host names of upstreams. By default the resolver of the process. */
  readonly resolver?: NameResolver | undefined;
  /** The file descriptor limit of the process. */
  readonly descriptorLimit?: number | undefined;
  /** Returns the milliseconds of the clock of rate limits, which never goes back. */
  readonly now?: (() => number) | undefined;
  /** The place among the workers of the process. By default there are no other workers. */
  readonly worker?: WorkerContext | undefined;
}

/** Creates the server of a plan. */
export function createGateway(plan: Plan, log: Log, options: GatewayOptions = {}): Gateway {
  const gateway = new Gateway(plan, log, options);
  gateway.start();
  return gateway;
}

/** The topic of messages to the other workers: there are too many connections to upstreams. */
const EXCEEDED_TOPIC = 'upstream-connections';

/** Shorter standstills are usual on a busy machine. */
const REPORTED_STANDSTILL_MS = 1_000;

/** The server of a plan. */
export class Gateway {
  /** Resolves the host names of upstreams. */
  readonly resolver: NameResolver;
  /** The number of workers of the process. */
  readonly workerCount: number;
  /** Metrics of all requests. */
  readonly metrics: RequestMetrics;
  /** The memory of buffered bodies. */
  readonly bufferBudget: BufferBudget;
  /** The counts of rate limits. */
  readonly rateLimiter: RateLimiter;
  readonly #log: Log;
  readonly #state: { -readonly [Key in keyof ServerState]: ServerState[Key] };
  readonly #server: ClientServer;
  readonly #acceptor: RequestAcceptor;
  readonly #unaccepted: ThrottledWarning;
  readonly #standstills: ThrottledWarning;
  readonly #descriptorLimit: number;
  readonly #worker: WorkerContext;
  readonly #counters: GatewayCounters;
  readonly #budget: ConnectionBudget;
  readonly #clientLimit: ClientLimit;
  /** The limit of connections to upstreams, tunnels included. Beyond it, each new one closes an idle one. */
  #upstreamConnectionLimit = Number.POSITIVE_INFINITY;
  /** Set when the gateway begins to connect to stores. */
  #connected: Promise<void> | undefined;
  #removeSocket = () => {};
  /** End what `start` has begun. */
  #stops: readonly (() => void)[] = [];

  constructor(plan: Plan, log: Log, options: GatewayOptions) {
    const { tracer, resolver = systemResolver, worker = createSingleWorker() } = options;
    const { descriptorLimit = Number.POSITIVE_INFINITY, now = sharedNow } = options;
    this.resolver = resolver;
    this.#worker = worker;
    this.#log = log;
    this.#descriptorLimit = descriptorLimit;
    const counters = sharedGatewayCounters(worker);
    this.#counters = counters;
    this.#clientLimit = new ClientLimit(log.logger, counters.connections, counters.refused);
    this.#standstills = new ThrottledWarning(log.logger, 'the process stood still');
    this.#unaccepted = new ThrottledWarning(log.logger, 'connections could not be accepted');
    this.#budget = new ConnectionBudget(
      () => this.#upstreamConnectionLimit - counters.tunnels.total,
      counters.upstreamConnections,
      () => worker.bus.publish(EXCEEDED_TOPIC, null),
    );
    this.#state = {
      plan,
      pseudonym: counters.pseudonym(),
      isDraining: false,
      isClosing: false,
      tracer,
      recorder: new RequestRecorder(log, new RequestMetrics(plan, worker), worker.count > 1 ? worker.index : undefined),
      upstreams: new LiveUpstreams({ log, resolver, budget: this.#budget, worker }),
      longLived: new LongLivedExchanges(),
      bufferBudget: counters.bufferBudget,
      rateLimiter: new RateLimiter(now, worker),
      observer: undefined,
    };
    this.workerCount = worker.count;
    this.metrics = this.#state.recorder.metrics;
    this.bufferBudget = counters.bufferBudget;
    this.rateLimiter = this.#state.rateLimiter;
    this.#server = createClientServer(plan.server);
    this.#acceptor = new RequestAcceptor(this.#state, log, counters);
  }

  /** Begins to handle connections. `createGateway` calls it. */
  start(): void {
    const { clients } = this.#acceptor;
    this.#acceptor.start(this.#server);
    this.#clientLimit.apply(this.#server, clients.holders, () => this.plan.server.trustedProxies);
    this.#stops = [
      logIdentityDnsErrors(this.resolver, this.#log.logger, () => this.plan),
      closeLateClients(clients.connections, () => this.plan.server.stalledTimeoutMs),
      this.#worker.bus.subscribe(EXCEEDED_TOPIC, () => this.#budget.closeExceeding()),
      standstills.watch((ms) => this.#reportStandstill(ms)),
    ];
    this.#applyPlan();
  }

  /** The active plan. */
  get plan(): Plan {
    return this.#state.plan;
  }

  /** The state of the upstreams of the active plan. */
  get upstreams(): LiveUpstreams['statuses'] {
    return this.#state.upstreams.statuses;
  }

  /** The state of the stores of rate limits; empty before `listen`. */
  get stores(): readonly StoreStatus[] {
    return this.rateLimiter.stores;
  }

  get clients() {
    const { connections, tunnels, refused, unaccepted } = this.#counters;
    return {
      connections: connections.total,
      workerConnections: this.#acceptor.clients.sockets.size,
      /** Open WebSockets, and connections with a handshake in progress. */
      tunnels: tunnels.total,
      /** The most connections at one time: the limit of the active plan, or fewer if file descriptors are short. */
      limit: this.#clientLimit.limit,
      /** Connections that were closed because the limit was reached. */
      refused: refused.total,
      /** Connections that could not be accepted, for example without a free file descriptor. */
      unaccepted: unaccepted.total,
    };
  }

  /** The number of file descriptors that the process needs at the limits of the active plan. */
  get requiredDescriptors(): number {
    return requiredDescriptors(this.plan, this.workerCount);
  }

  /** How long the process or one of its workers stood still in total. */
  get standstillMs(): number {
    return this.#counters.standstillMs.total;
  }

  /** The number of subscribers. */
  get subscribers(): number {
    return this.#state.recorder.subscribers;
  }

  /** Calls the subscriber with the record of each request that ends. Returns a function that unsubscribes. */
  subscribe(subscriber: RequestSubscriber): () => void {
    return this.#state.recorder.subscribe(subscriber);
  }

  /** Shows all further exchanges to this observer, or to none. */
  observe(observer: ExchangeObserver | undefined): void {
    this.#state.observer = observer;
  }

  /** Connects to the stores of rate limits, as `listen` does if nobody did. Resolves after at most a few seconds. */
  connect(): Promise<void> {
    this.#connected ??= this.rateLimiter.connect(this.resolver, this.#log.logger);
    return this.#connected;
  }

  /**
   * Starts to accept connections. Returns the bound address; that of a unix socket is its path, with the family `unix`. Rejects with an
   * error of `net`, such as `EADDRINUSE`, or of `listenOnSocket`.
   *
   * @param address by default that of the plan
   */
  async listen({ host, port, socket }: ListenAddress = this.plan.listen): Promise<AddressInfo> {
    const server = this.#server;
    // The first requests would otherwise not count together with those of other gateways.
    await this.connect();
    if (socket === undefined) {
      // The kernel distributes connections over the listeners of all workers.
      server.listen({ host, port, reusePort: this.#worker.count > 1 });
      await once(server, 'listening');
    } else {
      this.#removeSocket = await listenOnSocket(server, socket);
    }
    assertTcpHandle(server);
    // Without a listener an error of `accept` would end the process.
    server.on('error', ({ code }: NodeJS.ErrnoException) => {
      this.#counters.unaccepted.add(1);
      this.#unaccepted.add({ reason: code });
    });
    return socket === undefined ? (server.address() as AddressInfo) : { address: socket.path, family: 'unix', port: 0 };
  }

  /** Serves the requests on a connection that the caller has opened. */
  acceptConnection(connection: CarrierSocket): void {
    this.#acceptor.clients.accept(connection);
  }

  /**
   * Creates the memory that the workers of a plan share, and connects to the rate limit stores that the plan adds or changes: the first
   * requests after `activate` would otherwise find them not connected. Resolves after at most a few seconds, also if a store does
   * not respond.
   */
  async prepare(plan: Plan): Promise<void> {
    const { memory, count } = this.#worker;
    for (const { name, bytes, maxBytes } of sharedBuffersOf(plan, count)) memory.buffer(name, bytes, maxBytes);
    await this.rateLimiter.prepare(plan.rateLimits);
  }

  /** Serves new requests by this plan. Requests in flight keep the plan that they began with. */
  activate(plan: Plan): void {
    activateServerSettings(this.#server, plan.server, this.plan.server);
    this.#state.plan = plan;
    this.#applyPlan();
    this.metrics.activate(plan);
    this.#worker.memory.retain(new Set(sharedBuffersOf(plan, this.#worker.count).map(({ name }) => name)));
    const count = this.#state.longLived.revalidate(plan);
    const { graceMs } = plan.reload;
    if (count > 0)
      this.#log.logger.info(
        { count, grace_ms: graceMs },
        'the reload ends WebSockets and event streams after the grace period',
      );
  }

  /** Gives back everything that a worker held which has ended. Worker 0 calls it before it replaces the worker. */
  forgetWorker(index: number): void {
    this.metrics.forget(index);
    this.#counters.forgetWorker(index);
    this.#state.upstreams.forgetWorker(index);
    this.rateLimiter.forgetWorker(index);
  }

  /** Closes each connection after its next response. The server still accepts connections and serves all requests. */
  drain(): void {
    this.#state.isDraining = true;
  }

  /** Accepts no more connections, ends long-lived exchanges, waits up to `graceMs` for requests, then closes the other connections. */
  async close(graceMs: number): Promise<void> {
    this.#state.isDraining = true;
    this.#state.isClosing = true;
    const startMs = performance.now();
    this.#state.longLived.endAll('going_away');
    this.#removeSocket();
    if (graceMs > 0 && this.#server.listening) await acceptWaiting(this.#server, graceMs);
    const remainingMs = Math.max(0, graceMs - (performance.now() - startMs));
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#acceptor.clients.closeIdle();
    // Others have begun since.
    this.#state.longLived.endAll('going_away');
    const timer = setTimeout(() => this.#closeRemaining(graceMs), remainingMs);
    await closed;
    clearTimeout(timer);
    await this.#state.upstreams.close();
    await this.rateLimiter.close();
    for (const stop of this.#stops) stop();
  }

  #reportStandstill(ms: number): void {
    if (ms >= REPORTED_STANDSTILL_MS && this.#counters.addStandstill(ms)) this.#standstills.add({ ms: Math.round(ms) });
  }

  #closeRemaining(graceMs: number): void {
    const { sockets } = this.#acceptor.clients;
    const { size: connections } = sockets;
    if (graceMs > 0) this.#log.logger.warn({ connections }, 'grace period expired; closing the remaining connections');
    for (const socket of sockets) socket.destroy();
  }

  /** Sets the limits of the active plan, and starts its upstreams. */
  #applyPlan(): void {
    const { plan, workerCount } = this;
    const { clients, upstreams } = descriptorLimits(plan, this.#descriptorLimit, workerCount);
    this.#acceptor.limits = plan.server;
    this.#clientLimit.limit = clients;
    this.#upstreamConnectionLimit = upstreams;
    this.bufferBudget.limitBytes = plan.server.bufferLimitBytes;
    this.#state.upstreams.activate(plan);
    this.rateLimiter.activate(plan.rateLimits);
  }
}

/** Returns the buffers that the workers of a plan share. @param workers the number of workers */
function sharedBuffersOf(plan: Plan, workers: number): readonly BufferDefinition[] {
  const { upstreams, rateLimits, auth } = plan;
  return [
    gatewayBuffer(workers),
    requestBuffer(plan, workers),
    ...upstreams.map((upstream) => upstreamBuffer(upstream, workers)),
    ...rateLimits.map(limitBuffer),
    ...(auth?.verifier.methods ?? []).map(({ buffer }) => buffer),
  ];
}
