import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Every response begins with these bytes, whatever its status. */
const BEGINNING = 'HTTP/1.1 ';
/** The first byte is sent at once, the second one so much later, and each further one after twice the time. */
const PROBE_MS = 10;
/** How often a response that is being written is looked at. */
const LOOK_MS = 20;
/** A response without chunks may pause for so many looks before its client counts as gone. */
const MAX_STILL_LOOKS = 3;
/** Zeros before the size of one chunk. Some clients accept 16 digits, and the size itself may need eight. */
const MAX_ZEROS = 8;

/** A property of Node's own that it does not document: true once the head has been written to the socket. */
type InternalServerResponse = ServerResponse & { readonly _headerSent?: boolean };

/**
 * A connection whose client has closed its side while a response is owed. TCP does not tell whether the client still reads
 * (RFC 9112 section 9.6) or has left; but the system of a client that has left resets the connection when a byte comes, and the
 * next write fails. So the gateway sends the first bytes of the status line before it knows the status, and within a response
 * in chunks it sends zeros, with which the size of the next chunk may begin (RFC 9112 section 7.1). Other responses have no
 * such bytes: there the client counts as gone when the response pauses.
 */
export class HalfCloseProbe {
  readonly #socket: Socket;
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Sends the status line byte by byte, until the head is made. */
  probe(delayMs = PROBE_MS): void {
    if (this.#sent === BEGINNING.length || this.#socket.destroyed) return;
    this.#socket.write(BEGINNING[this.#sent] as string);
    this.#sent += 1;
    this.#timer = setTimeout(() => this.probe(2 * delayMs), delayMs);
  }

  /** The same, behind the response to the request before this one, which was a probe itself. */
  scheduleProbe(): void {
    this.#timer = setTimeout(() => this.probe(), PROBE_MS);
  }

  /** Ends the probes, since the head is made; returns how many of its bytes have been sent. */
  takeSentBytes(): number {
    const sent = this.#sent;
    this.stop();
    this.#sent = 0;
    return sent;
  }

  /**
   * Destroys the connection when the client leaves in the middle of the response.
   *
   * @param bytesTaken returns how many bytes the system has taken so far
   */
  watch(response: InternalServerResponse, bytesTaken: () => number): void {
    if (response.chunkedEncoding) this.#watchChunks(response);
    else this.#watchBytes(bytesTaken);
  }

  #watchChunks(response: InternalServerResponse, mark = this.#socket.bytesWritten, sent = 0): void {
    const delayMs = LOOK_MS * 2 ** Math.max(sent - 1, 0);
    this.#timer = setTimeout(() => {
      const socket = this.#socket;
      const isStill = socket.bytesWritten === mark && socket.writableLength === 0;
      const isProbed = isStill && sent < MAX_ZEROS && response._headerSent === true && !response.writableEnded;
      if (isProbed) socket.write('0');
      // Behind a chunk the zeros of the next size begin.
      this.#watchChunks(response, socket.bytesWritten, isStill ? sent + Number(isProbed) : 0);
    }, delayMs);
  }

  #watchBytes(bytesTaken: () => number): void {
    let taken = bytesTaken();
    let stillLooks = 0;
    this.#timer = setInterval(() => {
      const now = bytesTaken();
      // A client that has left would have reset the connection instead of leaving bytes waiting.
      stillLooks = now === taken && this.#socket.writableLength === 0 ? stillLooks + 1 : 0;
      if (stillLooks === MAX_STILL_LOOKS) this.#socket.destroy();
      taken = now;
    }, LOOK_MS);
  }

  /** The response has ended. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
