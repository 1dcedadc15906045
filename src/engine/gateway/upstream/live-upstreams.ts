import type { Plan } from '../../plan/plan.ts';
import type { Upstream } from '../../settings/upstream-definition.ts';
import { SharedMemory } from '../../shared-memory/worker-context.ts';
import type { UpstreamContext } from './live-endpoint.ts';
import { LiveUpstream, UPSTREAM_TOPIC } from './live-upstream.ts';

/** The upstreams of the active plan, with their connections and health. */
export class LiveUpstreams {
  readonly #context: UpstreamContext;
  /** Those of the active plan. */
  readonly byKey = new Map<string, LiveUpstream>();
  /** Those of earlier plans that still serve requests. */
  readonly #closing = new Set<LiveUpstream>();
  readonly #unsubscribe: () => void;

  constructor(context: UpstreamContext) {
    this.#context = context;
    this.#unsubscribe = context.worker.bus.subscribe(UPSTREAM_TOPIC, (key) => {
      for (const upstream of this.#all) if (upstream.upstream.key === key) upstream.onNews();
    });
  }

  get statuses(): readonly LiveUpstream['status'][] {
    return [...this.byKey.values()].map(({ status }) => status);
  }

  /** Keeps the upstreams that are also in the new plan, drains and closes the others, and starts the new ones. */
  activate({ upstreams }: Plan): void {
    const keys = new Set(upstreams.map(({ key }) => key));
    for (const [key, removed] of this.byKey) {
      if (keys.has(key)) continue;
      this.byKey.delete(key);
      void this.#close(removed);
    }
    const { memory } = this.#context.worker;
    for (const upstream of upstreams)
      if (!this.byKey.has(upstream.key))
        this.byKey.set(upstream.key, new LiveUpstream(upstream, memory, this.#context).start());
  }

  /** Returns an upstream of an earlier plan, for a request that began with it. It closes after the exchange that begins in this turn, and shares nothing. */
  reopen(upstream: Upstream): LiveUpstream {
    const temporary = new LiveUpstream(upstream, new SharedMemory(), this.#context).start();
    setImmediate(() => void temporary.close());
    return temporary;
  }

  /** Gives back everything that a worker held which ended. */
  forgetWorker(worker: number): void {
    for (const upstream of this.#all) upstream.forgetWorker(worker);
  }

  /** Closes all upstreams once their exchanges have ended. */
  async close(): Promise<void> {
    await Promise.all([...this.byKey.values()].map((upstream) => this.#close(upstream)));
    this.#unsubscribe();
  }

  get #all(): Iterable<LiveUpstream> {
    return [...this.byKey.values(), ...this.#closing];
  }

  async #close(upstream: LiveUpstream): Promise<void> {
    this.#closing.add(upstream);
    await upstream.close();
    this.#closing.delete(upstream);
  }
}
