import type { BufferParts } from '../../shared-memory/buffer-parts.ts';
import { HASH_KEY_LENGTH, KeyedHash } from '../../shared-memory/keyed-hash.ts';
import { SharedLock } from '../../shared-memory/shared-lock.ts';

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
/** How long a second client is remembered. */
const SEVERAL_CLIENTS_MS = 600_000;

/** Each client adds at least half a point, so no more clients matter before the points reach `failures`. */
export function streakMemory(parts: BufferParts, failures: number) {
  const capacity = Math.min(MAX_CLIENTS, Math.ceil(failures / ABANDONED_WEIGHT));
  return {
    lock: parts.int32(1),
    hashKey: parts.int32(HASH_KEY_LENGTH),
    // The mark of the latest client, and one millisecond after the client changed last.
    latestClient: parts.int32(1),
    clientChangedAt: parts.float64(1),
    // The points of all failures, then those of each client with a failure that a request may have provoked.
    points: parts.float64(1 + capacity),
    provoked: parts.int32(clientSetLength(capacity)),
    abandoned: parts.int32(clientSetLength(capacity)),
  };
}

type StreakMemory = ReturnType<typeof streakMemory>;

/**
 * Failures of a service since its last success, weighted by the share that one client can have caused. They are in memory that threads
 * may share. The changes and the members that name a client belong into `run`, which holds the lock and hashes the client.
 */
export class FailureStreak {
  readonly #memory: StreakMemory;
  readonly #now: () => number;
  readonly #lock: SharedLock;
  readonly #hash: KeyedHash;
  /** Clients with failures that a request may have provoked. */
  readonly provoked: ClientSet;
  /** Clients that left after a long wait, since the last response. */
  readonly #abandoned: ClientSet;
  /** The latest client of this thread, so that a thread hashes it once. */
  #client: string | undefined;
  #mark = 0;

  constructor(memory: StreakMemory, now: () => number) {
    this.#memory = memory;
    this.#now = now;
    this.#lock = new SharedLock(memory.lock);
    this.#hash = new KeyedHash(memory.hashKey);
    this.provoked = new ClientSet(memory.provoked);
    this.#abandoned = new ClientSet(memory.abandoned);
  }

  /** Records that a client uses the service. Needs no lock: each cell is written at once, and the latest write counts. */
  recordClient(client: string): void {
    const { latestClient, clientChangedAt } = this.#memory;
    if (client !== this.#client) {
      this.#hash.hash(client);
      this.#client = client;
      // Never 0, which means no client.
      this.#mark = this.#hash.high | 1;
    }
    const previous = latestClient[0];
    if (previous === this.#mark) return;
    if (previous !== 0) clientChangedAt[0] = this.#now() + 1;
    latestClient[0] = this.#mark;
  }

  /**
   * True if several clients use the service. If all requests come from one address (a local application or a proxy), there are no
   * other failures to count, and to send no requests harms no other client.
   */
  get hasSeveralClients(): boolean {
    const changedAt = this.#memory.clientChangedAt[0] as number;
    return changedAt !== 0 && this.#now() - (changedAt - 1) < SEVERAL_CLIENTS_MS;
  }

  /** True if nothing is counted. Needs no lock. */
  get isEmpty(): boolean {
    return this.#memory.points[0] === 0 && this.#abandoned.size === 0;
  }

  /** Runs an action while no other thread changes the streak. @param client of which the action is */
  run<T>(action: () => T, client?: string): T {
    if (client !== undefined) this.#hash.hash(client);
    return this.#lock.run(action);
  }

  /** The client of `run`. */
  get client(): ClientHash {
    return this.#hash;
  }

  /** Clients that left count only together with a failure, because leaving alone proves nothing. */
  get points(): number {
    const points = this.#memory.points[0] as number;
    return points === 0 ? 0 : points + this.#abandoned.size * ABANDONED_WEIGHT;
  }

  /** Counts a failure. @param limit the points that the client can contribute; without one, no request can cause the failure */
  recordFailure(limit?: number): void {
    if (limit === undefined) {
      this.#add(0, 1);
      return;
    }
    const known = this.provoked.indexOf(this.#hash);
    const added = Math.min(1, limit - (known === -1 ? 0 : (this.#memory.points[known + 1] as number)));
    if (added <= 0) return;
    const index = known === -1 ? this.provoked.add(this.#hash) : known;
    if (known === -1 && index !== -1) this.#memory.points[index + 1] = 0;
    if (index !== -1) this.#add(index + 1, added);
    this.#add(0, added);
  }

  /** The client left after a long wait. Each client counts once. */
  recordAbandoned(): void {
    this.#abandoned.add(this.#hash);
  }

  /** A response began, so the service does not hang. */
  recordResponse(): void {
    this.#abandoned.clear();
  }

  /** An exchange succeeded. */
  reset(): void {
    this.#abandoned.clear();
    this.#memory.points[0] = 0;
    this.provoked.clear();
  }

  #add(index: number, points: number): void {
    this.#memory.points[index] = (this.#memory.points[index] as number) + points;
  }
}
