/** The size of one read. */
export const READ_BUFFER_BYTES = 65_536;
const MAX_SPARE = 32;

const spare: Buffer<ArrayBufferLike>[] = [];
/** Buffers that a reader owns and has not released. */
const lent = new WeakSet<ArrayBufferLike>();

/** Returns a buffer to read into. Reuses released ones: new memory for each read would keep the garbage collector busy. */
export function acquireReadBuffer(): Buffer<ArrayBufferLike> {
  return spare.pop() ?? Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
}

/** Hands the buffer over to its reader, who alone uses its memory from here on. */
export function lendReadBuffer({ buffer }: Buffer): void {
  lent.add(buffer);
}

/** Takes a buffer back once nothing uses any part of it. Ignores buffers that were not lent. */
export function releaseReadBuffer({ buffer }: Buffer): void {
  if (lent.delete(buffer) && spare.length < MAX_SPARE) spare.push(Buffer.from(buffer));
}
