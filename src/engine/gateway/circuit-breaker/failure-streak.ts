import type { BufferParts } from '../../shared-memory/buffer-parts.ts';
import { HASH_KEY_LENGTH, KeyedHash } from '../../shared-memory/keyed-hash.ts';
import { SharedLock } from '../../shared-memory/shared-lock.ts';

/** Limits the memory. The failures of further clients count, but without a limit for each client. */
const MAX_CLIENTS = 1_024;
/** The least that the failures of a client add. */
const MIN_POINTS = 0.5;
/** How long a second client is remembered. */
const SEVERAL_CLIENTS_MS = 600_000;

/** No more clients matter before the points reach `failures`. */
export function streakMemory(parts: BufferParts, failures: number) {
  const capacity = Math.min(MAX_CLIENTS, Math.ceil(failures / MIN_POINTS));
  return {
    lock: parts.int32(1),
    hashKey: parts.int32(HASH_KEY_LENGTH),
    latestClient: parts.float64(1),
    // One millisecond after the client changed last; 0 before that.
    clientChangedAt: parts.float64(1),
    // The points of all failures, then those of each client of `provoked`.
    points: parts.float64(1 + capacity),
    // Clients with failures that a request may have provoked.
    provoked: parts.float64(capacity),
  };
}

type StreakMemory = ReturnType<typeof streakMemory>;

/**
 * Adds a client to a bounded set in shared memory, whose free cells are 0. Returns its index, or -1 if there is no room.
 *
 * @param client the id that `FailureStreak` gives it
 */
export function addClient(clients: Float64Array, client: number): number {
  const known = clients.indexOf(client);
  const index = known === -1 ? clients.indexOf(0) : known;
  if (index !== -1) clients[index] = client;
  return index;
}

/**
 * Failures of a service since its last success, weighted by the share that one client can have caused. They are in memory that threads
 * may share. The changes, and the members that name a client, belong into `run`.
 */
export class FailureStreak {
  /** The id of the latest client of this thread, which thus hashes it once. It is never 0, which means no client. */
  client = 0;
  readonly #memory: StreakMemory;
  readonly #now: () => number;
  readonly #lock: SharedLock;
  readonly #hash: KeyedHash;
  #clientKey: string | undefined;

  constructor(memory: StreakMemory, now: () => number) {
    this.#memory = memory;
    this.#now = now;
    this.#lock = new SharedLock(memory.lock);
    this.#hash = new KeyedHash(memory.hashKey);
  }

  /** Records that a client uses the service. Needs no lock: each cell is written at once, and the latest write counts. */
  recordClient(client: string): void {
    const { latestClient, clientChangedAt } = this.#memory;
    if (client !== this.#clientKey) this.#selectClient(client);
    const previous = latestClient[0];
    if (previous === this.client) return;
    if (previous !== 0) clientChangedAt[0] = this.#now() + 1;
    latestClient[0] = this.client;
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
    return this.points === 0;
  }

  /** Runs an action while no other thread changes the streak. @param client of which the action is */
  run<T>(action: () => T, client?: string): T {
    if (client !== undefined && client !== this.#clientKey) this.#selectClient(client);
    return this.#lock.run(action);
  }

  get points(): number {
    return this.#memory.points[0] as number;
  }

  /** Counts a failure. @param limit the points that the client can contribute; without one, no request can cause the failure */
  recordFailure(limit?: number): void {
    const { points, provoked } = this.#memory;
    const index = limit === undefined ? -1 : addClient(provoked, this.client);
    const own = index === -1 ? 0 : (points[index + 1] as number);
    const added = Math.max(0, Math.min(1, (limit ?? 1) - own));
    if (index !== -1) points[index + 1] = own + added;
    points[0] = (points[0] as number) + added;
  }

  /** An exchange succeeded. */
  reset(): void {
    this.#memory.points.fill(0);
    this.#memory.provoked.fill(0);
  }

  /** Adds the clients with failures that a request may have provoked to another set. */
  addProvokedTo(clients: Float64Array): void {
    for (const client of this.#memory.provoked) if (client !== 0) addClient(clients, client);
  }

  #selectClient(client: string): void {
    this.#hash.hash(client);
    this.#clientKey = client;
    // As many bits as a number can have.
    this.client = this.#hash.high * 2 ** 21 + (this.#hash.low >>> 11) || 1;
  }
}
