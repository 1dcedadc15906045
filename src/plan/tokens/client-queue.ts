/** A queue that serves the clients in turn, and the items of one client in their order. */
export class ClientQueue<T> {
  /** By client, the one whose turn is next first. */
  readonly #lines = new Map<string | undefined, Set<T>>();

  add(client: string | undefined, item: T): void {
    const line = this.#lines.get(client);
    if (line === undefined) this.#lines.set(client, new Set([item]));
    else line.add(item);
  }

  delete(client: string | undefined, item: T): void {
    const line = this.#lines.get(client);
    line?.delete(item);
    if (line?.size === 0) this.#lines.delete(client);
  }

  /** Removes and returns the next item of the first client that may go; `undefined` when there is none. */
  next(mayGo: (client: string | undefined) => boolean): T | undefined {
    for (const [client, line] of this.#lines) {
      if (!mayGo(client)) continue;
      const [item] = line;
      line.delete(item as T);
      this.#lines.delete(client);
      if (line.size > 0) this.#lines.set(client, line);
      return item;
    }
    return undefined;
  }
}
