import { Duplex } from 'node:stream';

/** What both ends of a connection in memory say of the other one. */
const PEER = '127.0.0.1';
/** A write of more than this arrives in pieces, as from a network. */
const PIECE_BYTES = 65_536;

/** One end of a connection that goes over no network: what is written here is read at the other end. */
export class MemorySocket extends Duplex {
  readonly remoteAddress = PEER;
  bytesRead = 0;
  #other: MemorySocket | undefined;
  /** Lets the other end write on. */
  #resume: (() => void) | undefined;

  /** Both ends of a new connection. */
  static pair(isEncrypted = false): [MemorySocket, MemorySocket] {
    const one = new MemorySocket();
    const other = new MemorySocket();
    // As those of TLS say it, whose bytes are sent as they are here.
    if (isEncrypted) Object.assign(other, { encrypted: true });
    one.#other = other;
    other.#other = one;
    return [one, other];
  }

  /** Ends the connection as a reset does. */
  resetAndDestroy(): this {
    const other = this.#other;
    this.destroy();
    other?.destroy(Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' }));
    return this;
  }

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _write(bytes: Buffer, _encoding: unknown, callback: (error?: Error | null) => void): void {
    const other = this.#other;
    let takesMore = true;
    if (other !== undefined && !other.destroyed) {
      other.bytesRead += bytes.length;
      for (let at = 0; at < bytes.length; at += PIECE_BYTES)
        takesMore = other.push(bytes.subarray(at, at + PIECE_BYTES));
    }
    // What an end that is gone would have read is lost.
    if (takesMore || other === undefined) callback();
    else other.#resume = callback;
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#endOther();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this._read();
    this.#endOther();
    callback(error);
  }

  #endOther(): void {
    const other = this.#other;
    if (other !== undefined && !other.destroyed && !other.readableEnded) other.push(null);
  }
}
