/** The size of one read. */
const READ_BUFFER_BYTES = 65_536;
const MAX_SPARE = 32;

const spare: Buffer<ArrayBufferLike>[] = [];
/** Buffers that a reader owns and has not released. */
const lent = new WeakSet<ArrayBufferLike>();

/** Returns a buffer to read into. Reuses released buffers, because new memory for each read would load the garbage collector. */
function acquireReadBuffer(): Buffer<ArrayBufferLike> {
  return spare.pop() ?? Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
}

/** Hands the buffer over to a reader, which owns the memory until it releases the buffer. */
function lendReadBuffer({ buffer }: Buffer): void {
  lent.add(buffer);
}

/** Takes back a buffer that is no longer in use, not even in part. Ignores buffers that were not lent. */
export function releaseReadBuffer({ buffer }: Buffer): void {
  if (lent.delete(buffer) && spare.length < MAX_SPARE) spare.push(Buffer.from(buffer));
}

/** The first size of a read buffer. It is small, because most responses are smaller and most connections are idle. */
const FIRST_READ_BYTES = 16_384;

/** Returns a buffer that is reused after each read, unless the read is so large that a copy costs more than a new buffer. */
export function reusedReadBuffer(handler: { onBytes(bytes: Buffer): void }) {
  let memory: Buffer<ArrayBufferLike> = Buffer.allocUnsafeSlow(FIRST_READ_BYTES);
  return {
    buffer: () => memory,
    callback: (size: number): boolean => {
      const bytes = memory.subarray(0, size);
      if (size === memory.length || size > READ_BUFFER_BYTES / 2) {
        if (memory.length === READ_BUFFER_BYTES) lendReadBuffer(memory);
        memory = acquireReadBuffer();
        handler.onBytes(bytes);
      } else {
        handler.onBytes(Buffer.from(bytes));
      }
      return true;
    },
  };
}
