/** How much is read at once. */
export const READ_BUFFER_BYTES = 65_536;
const MAX_SPARE = 32;

const spare: Buffer<ArrayBufferLike>[] = [];
/** What was given away whole, and not given back. */
const lent = new WeakSet<ArrayBufferLike>();

/**
 * Memory to read into. To let go of each piece of a long answer and make it anew has the collector run all the time: what went
 * out whole comes back.
 */
export function acquireReadBuffer(): Buffer<ArrayBufferLike> {
  return spare.pop() ?? Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
}

/** Bytes that were read into this memory are their reader's, who alone has them. */
export function lendReadBuffer({ buffer }: Buffer): void {
  lent.add(buffer);
}

/** Their reader is done with them; nothing else may hold a part of them. Bytes that were not lent are left alone. */
export function releaseReadBuffer({ buffer }: Buffer): void {
  if (lent.delete(buffer) && spare.length < MAX_SPARE) spare.push(Buffer.from(buffer));
}
