import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Undocumented properties of Node. */
interface InternalSocket extends Socket {
  /** The response that is being written. */
  readonly _httpMessage?: ServerResponse | null;
  /** The TCP socket below a TLS socket. */
  readonly _parent?: InternalSocket | null;
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

/** Observes the progress of a client that reads a response or sends a body, to detect a stalled one. */
export class ClientProgress {
  readonly #socket: InternalSocket;
  readonly #carrier: InternalSocket;
  #awaited: 'response' | 'body' | undefined;
  #transferredBytes = 0;
  #stalledChecks = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#carrier = this.#socket._parent ?? socket;
  }

  /** The bytes that the kernel has accepted, including those of a partly accepted write. */
  get bytesFlushed(): number {
    const handle = this.#carrier._handle;
    return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
  }

  /** True while the response has begun and the request has not ended. */
  get isResponding(): boolean {
    const response = this.#socket._httpMessage;
    return response?.headersSent === true && !response.req.complete;
  }

  /**
   * Checks whether the client has read bytes of a response or sent bytes of a body since the last check.
   *
   * @param request the current request
   * @returns the number of consecutive checks without progress
   */
  check(request: IncomingMessage | undefined): number {
    const awaited = this.#awaitedOf(request);
    const bytes = awaited === 'response' ? this.bytesFlushed : this.#socket.bytesRead;
    const isStalled = awaited !== undefined && awaited === this.#awaited && bytes === this.#transferredBytes;
    this.#stalledChecks = isStalled ? this.#stalledChecks + 1 : 0;
    this.#awaited = awaited;
    this.#transferredBytes = bytes;
    return this.#stalledChecks;
  }

  /** Resets the connection: a client could read a normal close as the end of a response (RFC 9112 section 8). */
  reset(): void {
    this.#carrier.resetAndDestroy();
  }

  #awaitedOf(request: IncomingMessage | undefined): 'response' | 'body' | undefined {
    // A client with unread response bytes may send its body later. A tunnel has no response.
    if (this.#socket.writableLength > 0) return this.#socket._httpMessage ? 'response' : undefined;
    return request?.complete === false && request.readableFlowing === true ? 'body' : undefined;
  }
}
