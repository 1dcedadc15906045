import type { BufferParts } from '../../shared-memory/buffer-parts.ts';

/** The two halves of the hash of a client's key. */
interface ClientHash {
  readonly high: number;
  readonly low: number;
}

/** Returns the number of cells of a set. */
export function clientSetLength(capacity: number): number {
  return 1 + 2 * capacity;
}

/** A bounded set of clients in shared memory, by their hashes. The caller holds a lock to change it. */
export class ClientSet {
  /** The size, then the two halves of each hash. */
  readonly #cells: Int32Array;

  constructor(cells: Int32Array) {
    this.#cells = cells;
  }

  get size(): number {
    return this.#cells[0] as number;
  }

  /** Returns the index of a client, or -1. */
  indexOf({ high, low }: ClientHash): number {
    const cells = this.#cells;
    for (let cell = 1; cell < clientSetLength(this.size); cell += 2)
      if (cells[cell] === (high | 0) && cells[cell + 1] === (low | 0)) return (cell - 1) / 2;
    return -1;
  }

  /** Adds a client. Returns its index, or -1 if there is no room. */
  add(client: ClientHash): number {
    const known = this.indexOf(client);
    if (known !== -1) return known;
    const { size } = this;
    if (clientSetLength(size + 1) > this.#cells.length) return -1;
    this.#cells[1 + 2 * size] = client.high;
    this.#cells[2 + 2 * size] = client.low;
    this.#cells[0] = size + 1;
    return size;
  }

  /** Adds the clients of another set while there is room. */
  addAll(other: ClientSet): void {
    const cells = other.#cells;
    for (let cell = 1; cell < clientSetLength(other.size); cell += 2)
      this.add({ high: cells[cell] as number, low: cells[cell + 1] as number });
  }

  clear(): void {
    this.#cells[0] = 0;
  }
}

/** Limits the memory. The failures of further clients count, but without a limit for each client. */
const MAX_CLIENTS = 1_024;
/** Weight of a client that left after a long wait. */
const ABANDONED_WEIGHT = 0.5;

/** Each client adds at least half a point, so no more clients matter before the points reach `failures`. */
export function streakMemory(parts: BufferParts, failures: number) {
  const capacity = Math.min(MAX_CLIENTS, Math.ceil(failures / ABANDONED_WEIGHT));
  return {
    // The points of all failures, then those of each client with a failure that a request may have provoked.
    points: parts.float64(1 + capacity),
    provoked: parts.int32(clientSetLength(capacity)),
    abandoned: parts.int32(clientSetLength(capacity)),
  };
}

type StreakMemory = ReturnType<typeof streakMemory>;

/**
 * Failures of an endpoint since its last success, weighted by the share that one client can have caused. They are in memory that
 * threads may share: the caller holds a lock to change them.
 */
export class FailureStreak {
  readonly #points: Float64Array;
  /** Clients with failures that a request may have provoked. */
  readonly provoked: ClientSet;
  /** Clients that left after a long wait, since the last response. */
  readonly #abandoned: ClientSet;

  constructor({ points, provoked, abandoned }: StreakMemory) {
    this.#points = points;
    this.provoked = new ClientSet(provoked);
    this.#abandoned = new ClientSet(abandoned);
  }

  /** Clients that left count only together with a failure, because leaving alone proves nothing. */
  get points(): number {
    const points = this.#points[0] as number;
    return points === 0 ? 0 : points + this.#abandoned.size * ABANDONED_WEIGHT;
  }

  /** True if nothing is counted. May be read without a lock. */
  get isEmpty(): boolean {
    return this.#points[0] === 0 && this.#abandoned.size === 0;
  }

  /** Counts a failure that no request can cause. */
  recordFailure(): void {
    this.#add(0, 1);
  }

  /** Counts a failure that a request may have provoked. @param limit points that one client can contribute */
  recordProvokedFailure(client: ClientHash, limit: number): void {
    const known = this.provoked.indexOf(client);
    const added = Math.min(1, limit - (known === -1 ? 0 : (this.#points[known + 1] as number)));
    if (added <= 0) return;
    const index = known === -1 ? this.provoked.add(client) : known;
    if (known === -1 && index !== -1) this.#points[index + 1] = 0;
    if (index !== -1) this.#add(index + 1, added);
    this.#add(0, added);
  }

  /** Counts a client that left after a long wait. Each client counts once. */
  recordAbandoned(client: ClientHash): void {
    this.#abandoned.add(client);
  }

  /** A response began, so the endpoint does not hang. */
  recordResponse(): void {
    this.#abandoned.clear();
  }

  /** An exchange succeeded. */
  reset(): void {
    this.#abandoned.clear();
    this.#points[0] = 0;
    this.provoked.clear();
  }

  #add(index: number, points: number): void {
    this.#points[index] = (this.#points[index] as number) + points;
  }
}
