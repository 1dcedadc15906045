/** Counts the checks in which a client makes no progress: it reads no byte of a response, or sends no byte of a body. */
export class ClientProgress {
  #awaited: 'response' | 'body' | undefined;
  #bytes = 0;
  #stalledChecks = 0;

  /**
   * @param awaited the message that the client should continue; `undefined` if the gateway waits for nothing
   * @param bytes the bytes of it so far
   * @returns the number of consecutive checks without progress
   */
  check(awaited: 'response' | 'body' | undefined, bytes: number): number {
    const isStalled = awaited !== undefined && awaited === this.#awaited && bytes === this.#bytes;
    this.#stalledChecks = isStalled ? this.#stalledChecks + 1 : 0;
    this.#awaited = awaited;
    this.#bytes = bytes;
    return this.#stalledChecks;
  }
}
