import { MAX_WORKERS } from '../shared-memory/worker-context.ts';

/** A table grows one shard at a time: to move all counters at once would block the event loop. */
export const SHARDS = 64;
/** The slots of a shard at first. */
export const MIN_SLOTS = 16;
/** The slots of all limits together, a power of two. One limit can have all of them. */
export const MAX_SLOTS = 2 ** 21;
/** The requests of a limit of failures that can wait for their responses. */
export const PENDING_ENTRIES = 2 ** 15;

/** The bytes of a slot, and of an entry for a pending request. */
export const SLOT_BYTES = 24;
/** A shard's lock, level and last id. */
export const SHARD_BYTES = 32;
/** A worker's row has a cache line for itself. Otherwise the workers would slow each other down. */
export const WORKER_BYTES = 128;

/** The parts of a buffer. Those that every request uses come first, so that they share a page of memory. */
export const HASH_KEY_AT = 0;
/** The counter of values without room has a shard of its own, the last one. */
export const SHARDS_AT = 64;
export const WORKERS_AT = SHARDS_AT + (SHARDS + 1) * SHARD_BYTES + 32;
export const PENDING_AT = WORKERS_AT + MAX_WORKERS * WORKER_BYTES;
/** The slots come last, so that the memory can grow. The first one belongs to the counter of values without room. */
export const SLOTS_AT = PENDING_AT + (PENDING_ENTRIES + 1) * SLOT_BYTES;

/** Returns the size of the memory of a table whose shards have this many slots. */
export function limitBytes(shardSlots: number): number {
  return SLOTS_AT + (1 + shardSlots * SHARDS) * SLOT_BYTES;
}

/**
 * Returns the name and the size of the memory in which all workers count by a limit. Its size does not depend on the other limits. It
 * begins small and grows with the table: the kernel may refuse a process that reserves much more than it uses.
 */
export function limitBuffer({ key }: { readonly key: string }) {
  return { name: `limits/${key}`, bytes: limitBytes(MIN_SLOTS), maxBytes: limitBytes(MAX_SLOTS / SHARDS) };
}
