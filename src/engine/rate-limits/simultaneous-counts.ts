import type { LiveStore } from './live-store.ts';
import type { RateLimit } from './rate-limit.ts';
import { COUNT } from './redis/gcra-script.ts';

/** The part of a store's result that belongs to one request. All times are microseconds. */
export interface StoreCount {
  /** 0 if the request is allowed. */
  readonly waitUs: number;
  readonly aheadUs: number;
  readonly position: number;
  readonly counter: number;
}

/** The requests with one key that came in one turn of the event loop after the first one. */
interface Group {
  requests: number;
  readonly result: Promise<readonly number[]>;
}

/**
 * Counts requests in a store. The first one of a turn is sent at once. Later ones of the same turn with the same key take one
 * command together: a flood of guesses must not delay the store.
 */
export class SimultaneousCounts {
  readonly #live: LiveStore;
  readonly #groups = new Map<string, Group>();

  constructor(live: LiveStore) {
    this.#live = live;
  }

  /** @throws StoreError */
  async count(limit: RateLimit, key: string): Promise<StoreCount> {
    const intervalUs = intervalOf(limit);
    // A reload may change the rate between two requests.
    const name = `${intervalUs} ${limit.burst} ${key}`;
    const group = this.#groups.get(name);
    if (group === undefined) {
      this.#begin(name, key, [intervalUs, limit.burst]);
      return placeOf(await this.#live.run(COUNT, key, [intervalUs, limit.burst, 1]), 0, intervalUs);
    }
    const index = group.requests;
    group.requests += 1;
    return placeOf(await group.result, index, intervalUs);
  }

  #begin(name: string, key: string, values: readonly number[]): void {
    const result = new Promise<readonly number[]>((resolve) => {
      setImmediate(() => {
        this.#groups.delete(name);
        if (group.requests > 0) resolve(this.#live.run(COUNT, key, [...values, group.requests]));
      });
    });
    const group: Group = { requests: 0, result };
    this.#groups.set(name, group);
  }
}

/** Returns the place of a request in the result of its command. */
function placeOf(result: readonly number[], index: number, intervalUs: number): StoreCount {
  const [allowed = 0, waitUs = 0, aheadUs = 0, position = 0, counter = 0] = result;
  if (index >= allowed) return { waitUs, aheadUs, position, counter };
  const behindUs = (allowed - 1 - index) * intervalUs;
  return { waitUs: 0, aheadUs: aheadUs - behindUs, position: position - behindUs, counter };
}

/** Returns the interval in whole microseconds, so that sums are exact. Rounded up: the limit is never looser than in the manifest. */
export function intervalOf({ periodMs, requests }: RateLimit): number {
  return Math.ceil((periodMs * 1_000) / requests);
}
