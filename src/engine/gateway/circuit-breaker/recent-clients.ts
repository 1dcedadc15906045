import type { BufferParts } from '../../shared-memory/buffer-parts.ts';
import type { KeyedHash } from '../../shared-memory/keyed-hash.ts';

/** How long a second client is remembered. */
const MEMORY_MS = 600_000;

export function recentClientsMemory(parts: BufferParts) {
  return {
    // The mark of the latest client.
    latest: parts.int32(1),
    // One millisecond after the client changed last; 0 before that.
    changedAt: parts.float64(1),
  };
}

type RecentClientsMemory = ReturnType<typeof recentClientsMemory>;

/**
 * Determines if several clients use an endpoint. If all requests come from one address (a local application or a proxy), there are no
 * other failures to count, and ejecting the endpoint harms no other client.
 *
 * The memory may be shared. It needs no lock: each cell is written at once, and the latest write counts.
 */
export class RecentClients {
  readonly #memory: RecentClientsMemory;
  readonly #hash: KeyedHash;
  readonly #now: () => number;
  /** The latest client of this thread, so that a thread hashes it once. */
  #client: string | undefined;
  #mark = 0;

  constructor(memory: RecentClientsMemory, hash: KeyedHash, now: () => number) {
    this.#memory = memory;
    this.#hash = hash;
    this.#now = now;
  }

  record(client: string): void {
    const { latest, changedAt } = this.#memory;
    if (client !== this.#client) {
      this.#hash.hash(client);
      this.#client = client;
      // Never 0, which means no client.
      this.#mark = this.#hash.high | 1;
    }
    const previous = latest[0];
    if (previous === this.#mark) return;
    if (previous !== 0) changedAt[0] = this.#now() + 1;
    latest[0] = this.#mark;
  }

  get hasSeveral(): boolean {
    const changedAt = this.#memory.changedAt[0] as number;
    return changedAt !== 0 && this.#now() - (changedAt - 1) < MEMORY_MS;
  }
}
