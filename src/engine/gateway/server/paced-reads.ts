import type { Socket } from 'node:net';
import { ChunkCounter, type PacedSource, resumeLater } from '../../http1/read-pace.ts';

interface SocketHandle {
  /** False while Node has paused reading. */
  readonly reading: boolean;
  readStart(): void;
  readStop(): void;
}

/**
 * Suspends reading from a client while its body arrives in very small chunks. It bypasses the `pause` of the socket, which
 * Node's HTTP parser uses itself.
 */
export class PacedReads implements PacedSource {
  readonly #socket: Socket & { readonly _handle?: SocketHandle | null };
  readonly #counter = new ChunkCounter();
  #isSuspended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Counts a chunk of the body, and suspends reading if too many small ones arrive. */
  count(bytes: number): void {
    if (!this.#counter.add(1, bytes) || this.#isSuspended) return;
    this.#isSuspended = true;
    this.#socket._handle?.readStop();
    resumeLater(this);
  }

  resumeReads(): void {
    this.#isSuspended = false;
    const { _handle: handle } = this.#socket;
    if (handle?.reading === true) handle.readStart();
  }
}
