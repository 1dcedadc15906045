import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Properties of Node's own that it does not document. */
interface InternalSocket extends Socket {
  /** The response that is being written. */
  readonly _httpMessage?: ServerResponse | null;
  /** Below TLS: the socket that carries it. */
  readonly _parent?: InternalSocket | null;
  readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

/** Observes how a client takes responses and sends requests, to find one that has stalled. */
export class ClientProgress {
  readonly #socket: InternalSocket;
  readonly #carrier: InternalSocket;
  #awaited: 'response' | 'body' | undefined;
  #moved = 0;
  #stillLooks = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.#carrier = this.#socket._parent ?? socket;
  }

  /** Bytes that the kernel has taken; a write of 64 kB counts byte by byte. */
  get bytesFlushed(): number {
    const handle = this.#carrier._handle;
    return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
  }

  /** True once the head of a response has been sent while its request is still coming. */
  get isResponding(): boolean {
    const response = this.#socket._httpMessage;
    return response?.headersSent === true && !response.req.complete;
  }

  /**
   * Looks whether the client keeps the gateway waiting: it takes nothing of a response, or sends nothing of a body.
   *
   * @param request the latest one
   * @returns how many looks in a row have found nothing moved
   */
  check(request: IncomingMessage | undefined): number {
    const awaited = this.#awaitedOf(request);
    const moved = awaited === 'response' ? this.bytesFlushed : this.#socket.bytesRead;
    const isStill = awaited !== undefined && awaited === this.#awaited && moved === this.#moved;
    this.#stillLooks = isStill ? this.#stillLooks + 1 : 0;
    this.#awaited = awaited;
    this.#moved = moved;
    return this.#stillLooks;
  }

  /** Resets the connection: a client could take a close for the end of a response (RFC 9112 section 8). */
  reset(): void {
    this.#carrier.resetAndDestroy();
  }

  #awaitedOf(request: IncomingMessage | undefined): 'response' | 'body' | undefined {
    // A client that has a response to read may send its body later. A tunnel has no response.
    if (this.#socket.writableLength > 0) return this.#socket._httpMessage ? 'response' : undefined;
    return request?.complete === false && request.readableFlowing === true ? 'body' : undefined;
  }
}
