import type { Socket } from 'node:net';
import { type PacedSource, PieceCounter, resumeLater } from '../../http1/read-pace.ts';

interface SocketHandle {
  /** False while Node itself reads nothing. */
  readonly reading: boolean;
  readStart(): void;
  readStop(): void;
}

/**
 * Suspends the reads of a client's connection while its body comes in very small pieces. It bypasses the socket's own
 * `pause`, which Node's HTTP parser uses for itself.
 */
export class PacedReads implements PacedSource {
  readonly #socket: Socket & { readonly _handle?: SocketHandle | null };
  readonly #count = new PieceCounter();
  #isSuspended = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Counts a piece of the body. */
  count(bytes: number): void {
    if (!this.#count.add(1, bytes) || this.#isSuspended) return;
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
