import type { NameCode } from '../../dns/name-error.ts';
import type { NameStatus } from '../../dns/name-status.ts';
import type { NameResolver } from '../../dns/resolver.ts';
import type { ConnectionBudget } from '../../http1/connection-budget.ts';
import { Connections } from '../../http1/connections.ts';
import { createDial, hostOf } from '../../http1/dial.ts';
import type { Target, Upstream } from '../../plan/plan.ts';
import { Breaker, type BreakerState } from './breaker.ts';
import { HealthCheck } from './health.ts';
import { NormalTime } from './normal-time.ts';
import { Prober } from './probe.ts';

/** What changed with a target, for the log. */
export type TargetNews = 'well' | 'unwell' | `breaker_${BreakerState}` | `unresolved (${NameCode})` | 'resolved';

export interface TargetStatus {
  readonly url: string;
  /** What the health check holds; `null` when there is none. */
  readonly well: boolean | null;
  /** `null` when there is none. */
  readonly breaker: BreakerState | null;
  /** How often the breaker opened. */
  readonly breakerOpenings: number;
  /** Exchanges whose client left while the gateway waited for the response. */
  readonly abandoned: number;
  /** Connections, those that are being opened too. */
  readonly connections: number;
  /** Connections in use. */
  readonly busy: number;
  /** The host name's addresses; `null` for an IP address, which needs no look-up. */
  readonly resolution: NameStatus | null;
}

/** A target while it is used: its connections, and what is known of how it does. */
export class LiveTarget {
  /** Its origin as it may be printed. */
  readonly url: string;
  /** As a request names it that came without. */
  readonly host: string;
  readonly connections: Connections;
  readonly breaker: Breaker | undefined;
  readonly normalTime = new NormalTime();
  /** Exchanges whose client left while the gateway waited for the response. */
  abandoned = 0;
  readonly #health: HealthCheck | undefined;
  readonly #prober: Prober | undefined;
  readonly #resolution: () => NameStatus | null;
  readonly #stopHearing: () => void;
  readonly #releaseName: () => void;
  #isWell = true;

  constructor(
    target: Target,
    upstream: Upstream,
    resolver: NameResolver,
    budget: ConnectionBudget,
    tell: (target: LiveTarget, news: TargetNews) => void,
  ) {
    this.url = target.shown;
    this.host = target.url.host;
    this.connections = new Connections(createDial(target, upstream, resolver), upstream, budget);
    const hostName = hostOf(target.url);
    this.#resolution = () => resolver.statusOf(hostName);
    this.#releaseName = resolver.hold(hostName);
    this.#stopHearing = resolver.subscribe((name, reason) => {
      if (name === hostName) tell(this, reason === undefined ? 'resolved' : `unresolved (${reason})`);
    });
    const { breaker, health } = upstream;
    this.breaker = breaker && new Breaker(breaker, (state) => tell(this, `breaker_${state}`));
    if (health === undefined) return;
    const prober = new Prober(target, upstream, resolver);
    this.#prober = prober;
    this.#health = new HealthCheck(
      health,
      () => prober.ask(health.path, health.timeoutMs),
      (isWell) => {
        this.#isWell = isWell;
        tell(this, isWell ? 'well' : 'unwell');
      },
    );
  }

  /** False while the health check fails. */
  get isHealthy(): boolean {
    return this.#isWell;
  }

  /** True if a request of this client may be sent now, given a free connection. */
  admits(client: string): boolean {
    return this.#isWell && (this.breaker === undefined || this.breaker.admits(client));
  }

  /** True if any request may be sent now, given a free connection. */
  get isUp(): boolean {
    return this.#isWell && (this.breaker === undefined || this.breaker.admitsAny);
  }

  get status(): TargetStatus {
    return {
      url: this.url,
      well: this.#health === undefined ? null : this.#isWell,
      breaker: this.breaker?.state ?? null,
      breakerOpenings: this.breaker?.openings ?? 0,
      abandoned: this.abandoned,
      connections: this.connections.size,
      busy: this.connections.busy,
      resolution: this.#resolution(),
    };
  }

  /** Closes all connections, with what they carry. */
  close(): void {
    this.#stopHearing();
    this.#health?.stop();
    this.#prober?.close();
    this.connections.close();
    this.#releaseName();
  }
}
