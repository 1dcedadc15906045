import { UsageByKey } from './client-key.ts';

/** Clients share it fairly: one holds at most as many slots as are free, so one alone gets half of them, and later ones find free slots. */
export class FairSemaphore {
  readonly #slotsByClient = new UsageByKey<string>();
  #free: number;

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Acquires a slot. Returns false if the client holds its share. @param client `undefined` for the gateway itself */
  tryAcquire(client: string | undefined): boolean {
    if ((client === undefined ? 0 : this.#slotsByClient.of(client)) >= this.#free) return false;
    this.#free -= 1;
    if (client !== undefined) this.#slotsByClient.add(client, 1);
    return true;
  }

  release(client: string | undefined): void {
    this.#free += 1;
    if (client !== undefined) this.#slotsByClient.add(client, -1);
  }
}
