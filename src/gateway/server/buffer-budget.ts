import { UsageByKey } from '../../fairness/usage-by-key.ts';

/** The part of the budget that one client may hold once half of it is taken. */
const SHARE = 1 / 4;

/** Why bytes were not buffered: the budget is spent, or the share of the client. */
export type BufferRefusalReason = 'buffer_full' | 'buffer_share';

/**
 * How many bytes of bodies the gateway holds in memory at once: request bodies that are validated, and responses of
 * login routes. Bytes count as they come, so a client cannot reserve memory by announcing a long body.
 */
export class BufferBudget {
  limitBytes: number;
  readonly refusedCounts: Record<BufferRefusalReason, number> = { buffer_full: 0, buffer_share: 0 };
  readonly #clients = new UsageByKey<string>();
  #heldBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  get usedBytes(): number {
    return this.#heldBytes;
  }

  /** Clients that hold some of it. */
  get clientCount(): number {
    return this.#clients.size;
  }

  /** Returns why the bytes cannot be buffered; `undefined` if they can, and are counted. */
  acquire(client: string, bytes: number): BufferRefusalReason | undefined {
    const held = this.#heldBytes + bytes;
    const own = this.#clients.of(client) + bytes;
    const isTight = held > this.limitBytes / 2;
    const refusal =
      held > this.limitBytes ? 'buffer_full' : isTight && own > this.limitBytes * SHARE ? 'buffer_share' : undefined;
    if (refusal !== undefined) {
      this.refusedCounts[refusal] += 1;
      return refusal;
    }
    this.#heldBytes = held;
    this.#clients.add(client, bytes);
    return undefined;
  }

  release(client: string, bytes: number): void {
    this.#heldBytes -= bytes;
    this.#clients.add(client, -bytes);
  }
}
