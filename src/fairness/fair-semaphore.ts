import { UsageByKey } from './usage-by-key.ts';

/**
 * A limited number of places that clients share. One client may hold as many as are still free, so half of them when it is alone;
 * every client that comes after it finds some.
 */
export class FairSemaphore {
  readonly #held = new UsageByKey<string>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Returns false, and takes none, when the client holds its share. @param client its key; `undefined`: the gateway itself */
  tryAcquire(client: string | undefined): boolean {
    if ((client === undefined ? 0 : this.#held.of(client)) >= this.#free) return false;
    this.#free -= 1;
    if (client !== undefined) this.#held.add(client, 1);
    return true;
  }

  release(client: string | undefined): void {
    this.#free += 1;
    if (client !== undefined) this.#held.add(client, -1);
  }
}
