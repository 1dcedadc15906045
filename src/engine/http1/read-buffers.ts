/** The size of one read. */
export const READ_BUFFER_BYTES = 65_536;
const MAX_SPARE = 32;

const spare: Buffer<ArrayBufferLike>[] = [];
/** Buffers that a reader owns and has not released. */
const lent = new WeakSet<ArrayBufferLike>();

/** Returns a buffer to read into. Reuses released buffers, because new memory for each read would load the garbage collector. */
export function acquireReadBuffer(): Buffer<ArrayBufferLike> {
  return spare.pop() ?? Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
}

/** Hands the buffer over to a reader, which owns the memory until it releases the buffer. */
export function lendReadBuffer({ buffer }: Buffer): void {
  lent.add(buffer);
}

/** Takes back a buffer that is no longer in use, not even in part. Ignores buffers that were not lent. */
export function releaseReadBuffer({ buffer }: Buffer): void {
  if (lent.delete(buffer) && spare.length < MAX_SPARE) spare.push(Buffer.from(buffer));
}
