/**
 * A limited number of places that clients share. One client may hold as many as are still free, so half of them when it is alone;
 * every client that comes after it finds some.
 */
export class SharedPlaces {
  readonly #held = new Map<string, number>();
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  /** Returns false, and takes none, when the client holds its share. @param client its address; `undefined`: the gateway itself */
  take(client: string | undefined): boolean {
    const held = client === undefined ? 0 : (this.#held.get(client) ?? 0);
    if (held >= this.#free) return false;
    this.#free -= 1;
    if (client !== undefined) this.#held.set(client, held + 1);
    return true;
  }

  release(client: string | undefined): void {
    this.#free += 1;
    if (client === undefined) return;
    const held = (this.#held.get(client) ?? 1) - 1;
    if (held === 0) this.#held.delete(client);
    else this.#held.set(client, held);
  }
}
