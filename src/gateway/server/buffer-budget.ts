import { UsageByKey } from '../../fairness/usage-by-key.ts';

/** The share of the budget that one client may use once half of the budget is used. */
const SHARE = 1 / 4;

/** `buffer_full`: the budget is used up; `buffer_share`: the client has used its share. */
export type BufferRefusalReason = 'buffer_full' | 'buffer_share';

/**
 * Limits the bytes of buffered bodies in memory: request bodies that are validated, and responses of login routes. Bytes
 * count when they arrive, so a client cannot reserve memory by announcing a long body.
 */
export class BufferBudget {
  limitBytes: number;
  readonly refusedCounts: Record<BufferRefusalReason, number> = { buffer_full: 0, buffer_share: 0 };
  readonly #clients = new UsageByKey<string>();
  #usedBytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** The number of clients with buffered bytes. */
  get clientCount(): number {
    return this.#clients.size;
  }

  /** Counts the bytes and returns `undefined`, or returns the reason why they cannot be buffered. */
  acquire(client: string, bytes: number): BufferRefusalReason | undefined {
    const usedBytes = this.#usedBytes + bytes;
    const clientBytes = this.#clients.of(client) + bytes;
    const isHalfFull = usedBytes > this.limitBytes / 2;
    const isOverShare = isHalfFull && clientBytes > this.limitBytes * SHARE;
    const refusal = usedBytes > this.limitBytes ? 'buffer_full' : isOverShare ? 'buffer_share' : undefined;
    if (refusal !== undefined) {
      this.refusedCounts[refusal] += 1;
      return refusal;
    }
    this.#usedBytes = usedBytes;
    this.#clients.add(client, bytes);
    return undefined;
  }

  release(client: string, bytes: number): void {
    this.#usedBytes -= bytes;
    this.#clients.add(client, -bytes);
  }
}
