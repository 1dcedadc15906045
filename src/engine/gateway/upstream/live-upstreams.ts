import type { NameResolver } from '../../dns/name-resolver.ts';
import type { ConnectionBudget } from '../../http1/connection-pool.ts';
import type { Log } from '../../log/log.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Upstream } from '../../settings/upstream-definition.ts';
import { SharedMemory, type WorkerContext } from '../../shared-memory/worker-context.ts';
import { LiveUpstream } from './live-upstream.ts';
import type { UpstreamStatus } from './upstream-status.ts';

/** The topic of messages to the other workers. Their value is the key of an upstream. */
const TOPIC = 'upstream';

/** The upstreams of the active plan, with their connections and health. */
export class LiveUpstreams {
  readonly #log: Log;
  readonly #resolver: NameResolver;
  readonly #budget: ConnectionBudget;
  readonly #worker: WorkerContext;
  readonly #byKey = new Map<string, LiveUpstream>();
  /** Those of earlier plans that still serve requests. */
  readonly #closing = new Set<LiveUpstream>();
  readonly #unsubscribe: () => void;

  constructor(log: Log, resolver: NameResolver, budget: ConnectionBudget, worker: WorkerContext) {
    this.#log = log;
    this.#resolver = resolver;
    this.#budget = budget;
    this.#worker = worker;
    this.#unsubscribe = worker.bus.subscribe(TOPIC, (key) => this.#onNews(key));
  }

  get statuses(): readonly UpstreamStatus[] {
    return [...this.#byKey.values()].map(({ status }) => status);
  }

  /** Keeps the upstreams that are also in the new plan, drains and closes the others, and starts the new ones. */
  activate({ upstreams }: Plan): void {
    const keys = new Set(upstreams.map(({ key }) => key));
    for (const [key, removed] of this.#byKey) {
      if (keys.has(key)) continue;
      this.#byKey.delete(key);
      void this.#close(removed);
    }
    for (const upstream of upstreams)
      if (!this.#byKey.has(upstream.key)) this.#byKey.set(upstream.key, this.#start(upstream, this.#worker.memory));
  }

  /** Returns the live upstream of a route. The caller must send its request in the same turn of the event loop. */
  get(upstream: Upstream): LiveUpstream {
    const live = this.#byKey.get(upstream.key);
    if (live !== undefined) return live;
    // The request began with an earlier plan. Its upstream closes after this one exchange, and shares nothing.
    const temporary = this.#start(upstream, new SharedMemory());
    setImmediate(() => void temporary.close());
    return temporary;
  }

  /** Gives back everything that a worker held which ended. */
  forgetWorker(worker: number): void {
    for (const upstream of this.#all) upstream.forgetWorker(worker);
  }

  /** Closes all upstreams once their exchanges have ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#byKey.values()].map((upstream) => this.#close(upstream)));
    this.#unsubscribe();
  }

  get #all(): Iterable<LiveUpstream> {
    return [...this.#byKey.values(), ...this.#closing];
  }

  #onNews(key: unknown): void {
    for (const upstream of this.#all) if (upstream.upstream.key === key) upstream.onNews();
  }

  async #close(upstream: LiveUpstream): Promise<void> {
    this.#closing.add(upstream);
    await upstream.close();
    this.#closing.delete(upstream);
  }

  #start(upstream: Upstream, memory: SharedMemory): LiveUpstream {
    const live = new LiveUpstream(upstream, {
      resolver: this.#resolver,
      budget: this.#budget,
      memory,
      worker: this.#worker,
      publish: (endpoint, event, reason) =>
        this.#log.logger.warn(
          { upstream: upstream.id, endpoint: endpoint.url, event, reason },
          'upstream endpoint changed',
        ),
      notifyWorkers: () => this.#worker.bus.publish(TOPIC, upstream.key),
    });
    live.start();
    return live;
  }
}
