import { Duplex } from 'node:stream';

/** A larger write arrives in several chunks, as from a network. */
const CHUNK_BYTES = 65_536;

/** One end of an in-memory connection: bytes written here are read at the other end. */
export class MemorySocket extends Duplex {
  remoteAddress = '127.0.0.1';
  bytesRead = 0;
  #peer: MemorySocket | undefined;
  /** Completes the pending write of the peer. */
  #resumePeer: (() => void) | undefined;

  /** Returns both ends of a new connection. @param peer the address of the client */
  static pair(isEncrypted = false, peer?: string): [client: MemorySocket, server: MemorySocket] {
    const client = new MemorySocket();
    const server = new MemorySocket();
    server.remoteAddress = peer ?? server.remoteAddress;
    // A TLS socket of Node has this flag; the bytes stay plain here.
    if (isEncrypted) Object.assign(server, { encrypted: true });
    client.#peer = server;
    server.#peer = client;
    return [client, server];
  }

  /** Closes the connection with `ECONNRESET` at the peer. */
  resetAndDestroy(): this {
    const peer = this.#peer;
    this.destroy();
    peer?.destroy(Object.assign(new Error('the connection was reset'), { code: 'ECONNRESET' }));
    return this;
  }

  override _read(): void {
    const resume = this.#resumePeer;
    this.#resumePeer = undefined;
    resume?.();
  }

  override _write(bytes: Buffer, _encoding: unknown, callback: (error?: Error | null) => void): void {
    const peer = this.#peer;
    let hasRoom = true;
    if (peer !== undefined && !peer.destroyed) {
      peer.bytesRead += bytes.length;
      for (let at = 0; at < bytes.length; at += CHUNK_BYTES) hasRoom = peer.push(bytes.subarray(at, at + CHUNK_BYTES));
    }
    // Bytes for a closed peer are lost.
    if (hasRoom || peer === undefined) callback();
    else peer.#resumePeer = callback;
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#endPeer();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this._read();
    this.#endPeer();
    callback(error);
  }

  #endPeer(): void {
    const peer = this.#peer;
    if (peer !== undefined && !peer.destroyed && !peer.readableEnded) peer.push(null);
  }
}
