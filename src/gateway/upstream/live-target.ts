import { Connections } from '../../http1/connections.ts';
import { createDial } from '../../http1/dial.ts';
import type { Target, Upstream } from '../../plan/plan.ts';
import { Breaker, type BreakerState } from './breaker.ts';
import { HealthCheck } from './health.ts';
import { Prober } from './probe.ts';

/** What changed with a target, for the log. */
export type TargetNews = 'well' | 'unwell' | `breaker_${BreakerState}`;

export interface TargetStatus {
  readonly url: string;
  /** What the health check holds; `null` when there is none. */
  readonly well: boolean | null;
  /** `null` when there is none. */
  readonly breaker: BreakerState | null;
  /** How often the breaker opened. */
  readonly breakerOpenings: number;
  /** Connections, those that are being opened too. */
  readonly connections: number;
  /** Connections in use. */
  readonly busy: number;
}

/** A target while it is used: its connections, and what is known of how it does. */
export class LiveTarget {
  readonly url: string;
  /** As a request names it that came without. */
  readonly host: string;
  readonly connections: Connections;
  readonly breaker: Breaker | undefined;
  readonly #health: HealthCheck | undefined;
  readonly #prober: Prober | undefined;
  #isWell = true;

  constructor(target: Target, upstream: Upstream, tell: (target: LiveTarget, news: TargetNews) => void) {
    this.url = target.url.origin;
    this.host = target.url.host;
    this.connections = new Connections(createDial(target, upstream), upstream);
    const { breaker, health } = upstream;
    this.breaker = breaker && new Breaker(breaker, (state) => tell(this, `breaker_${state}`));
    if (health === undefined) return;
    const prober = new Prober(target, upstream);
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

  /** Whether it may be given a request now, if there is a connection for it. */
  get isUp(): boolean {
    return this.#isWell && (this.breaker === undefined || this.breaker.admits);
  }

  get status(): TargetStatus {
    return {
      url: this.url,
      well: this.#health === undefined ? null : this.#isWell,
      breaker: this.breaker?.state ?? null,
      breakerOpenings: this.breaker?.openings ?? 0,
      connections: this.connections.size,
      busy: this.connections.busy,
    };
  }

  /** Closes all connections, with what they carry. */
  close(): void {
    this.#health?.stop();
    this.#prober?.close();
    this.connections.close();
  }
}
