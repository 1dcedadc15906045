import type { Duplex } from 'node:stream';
import { type CloseReason, closeFrame, Frames } from './frames.ts';

/** One direction of a tunnel: carries bytes as they come. An end is passed on, a failure ends both sides. */
export class Lane {
  readonly #from: Duplex;
  readonly #to: Duplex;
  readonly #isToServer: boolean;
  readonly #count: (bytes: number) => void;
  readonly #frames = new Frames();
  #reason: CloseReason | undefined;
  #isOver = false;

  constructor(from: Duplex, to: Duplex, isToServer: boolean, count: (bytes: number) => void) {
    this.#from = from;
    this.#to = to;
    this.#isToServer = isToServer;
    this.#count = count;
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.on('end', () => to.end());
    from.on('data', (piece: Buffer) => this.#carry(piece));
    to.on('drain', () => from.resume());
    // It waited for the tunnel.
    from.resume();
  }

  /** Says, behind the frame that is on its way, that no more follow, and carries no more. */
  leave(reason: CloseReason): void {
    this.#reason ??= reason;
    if (this.#frames.isBetween) this.#end(this.#reason);
  }

  #carry(piece: Buffer): void {
    if (this.#isOver) return;
    const bytes = this.#frames.read(piece, this.#reason !== undefined);
    this.#count(bytes);
    if (!this.#to.write(bytes === piece.length ? piece : piece.subarray(0, bytes))) this.#from.pause();
    if (this.#reason !== undefined && this.#frames.isBetween) this.#end(this.#reason);
  }

  /** What still comes is read, and is nobody's: the other side answers with a close of its own. */
  #end(reason: CloseReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (!this.#frames.hasClosed) this.#to.write(closeFrame(this.#isToServer, reason));
    // It is the server of a WebSocket who closes its connection first (RFC 6455 section 7.1.1).
    if (!this.#isToServer) this.#to.end();
    this.#from.resume();
  }
}
