import type { NameResolver } from '../../dns/name-resolver.ts';
import type { ConnectionBudget } from '../../http1/connection-budget.ts';
import type { Log } from '../../log/log.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Upstream } from '../../plan/settings/upstream-definition.ts';
import { LiveUpstream, type UpstreamStatus } from './live-upstream.ts';

/** The upstreams of the active plan, with their connections and health. */
export class LiveUpstreams {
  readonly #log: Log;
  readonly #resolver: NameResolver;
  readonly #budget: ConnectionBudget;
  readonly #byKey = new Map<string, LiveUpstream>();

  constructor(log: Log, resolver: NameResolver, budget: ConnectionBudget) {
    this.#log = log;
    this.#resolver = resolver;
    this.#budget = budget;
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
      void removed.close();
    }
    for (const upstream of upstreams)
      if (!this.#byKey.has(upstream.key)) this.#byKey.set(upstream.key, this.#start(upstream));
  }

  /** Returns the live upstream of a route. The caller must send its request in the same turn of the event loop. */
  get(upstream: Upstream): LiveUpstream {
    const live = this.#byKey.get(upstream.key);
    if (live !== undefined) return live;
    // The request began with an earlier plan. Its upstream closes after this one exchange.
    const temporary = this.#start(upstream);
    setImmediate(() => void temporary.close());
    return temporary;
  }

  /** Closes all upstreams once their exchanges have ended. */
  async close(): Promise<void> {
    await Promise.all([...this.#byKey.values()].map((upstream) => upstream.close()));
  }

  #start(upstream: Upstream): LiveUpstream {
    const live = new LiveUpstream(upstream, this.#resolver, this.#budget, (endpoint, event, reason) =>
      this.#log.logger.warn(
        { upstream: upstream.id, endpoint: endpoint.url, event, reason },
        'upstream endpoint changed',
      ),
    );
    live.start();
    return live;
  }
}
