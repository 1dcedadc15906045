/** Buffers by name that all workers of a process read and write. A process with one worker uses the same code. */
export class SharedMemory {
  readonly #buffers: Map<string, SharedArrayBuffer>;

  /** @param buffers those that another thread has created */
  constructor(buffers: ReadonlyMap<string, SharedArrayBuffer> = new Map()) {
    this.#buffers = new Map(buffers);
  }

  /**
   * Returns the buffer of a name, or a new one that holds zeros. The main thread creates the buffers of a plan before any worker
   * activates it. A worker that requests another one, for a request that began with an earlier plan, gets one that it does not share.
   *
   * @param maxBytes the size up to which it can grow
   */
  buffer(name: string, bytes: number, maxBytes = bytes): SharedArrayBuffer {
    let buffer = this.#buffers.get(name);
    if (buffer === undefined) {
      buffer =
        maxBytes > bytes ? new SharedArrayBuffer(bytes, { maxByteLength: maxBytes }) : new SharedArrayBuffer(bytes);
      this.#buffers.set(name, buffer);
    }
    return buffer;
  }

  /** All buffers by name, to send to a thread. */
  get buffers(): ReadonlyMap<string, SharedArrayBuffer> {
    return this.#buffers;
  }

  /** Adds the buffers that the main thread has created for a plan. */
  add(buffers: ReadonlyMap<string, SharedArrayBuffer>): void {
    for (const [name, buffer] of buffers) this.#buffers.set(name, buffer);
  }

  /** Forgets a buffer. Its memory is freed once nobody uses it. */
  delete(name: string): void {
    this.#buffers.delete(name);
  }

  /** Forgets all other buffers. Their memory is freed once nobody uses them. */
  retain(names: ReadonlySet<string>): void {
    for (const name of this.#buffers.keys()) if (!names.has(name)) this.#buffers.delete(name);
  }
}
