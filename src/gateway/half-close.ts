import type { Socket } from 'node:net';

/** Every response begins with these bytes, whatever its status. */
const BEGINNING = 'HTTP/1.1 ';
/** The first byte is sent at once, the second one so much later, and each further one after twice the time. */
const PROBE_MS = 10;
/** How long a response that is being written may pause before its client is taken for one that has left. */
const PAUSE_MS = 25;

/**
 * A connection whose client has closed its side while a response is owed. TCP does not tell whether the client still reads
 * (RFC 9112 section 9.6) or has left; but the system of a client that has left resets the connection when a byte comes, and the
 * next write fails. So the gateway sends the first bytes of the status line before it knows the status. Within a response
 * there are no such bytes: there the client is taken for gone when the response pauses.
 */
export class HalfClose {
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
  probeLater(): void {
    this.#timer = setTimeout(() => this.probe(), PROBE_MS);
  }

  /** Ends the probes, since the head is made; returns how many of its bytes have been sent. */
  takeSent(): number {
    const sent = this.#sent;
    this.stop();
    this.#sent = 0;
    return sent;
  }

  /** Destroys the connection when the response pauses. @param bytesTaken how many bytes the system has taken so far */
  watch(bytesTaken: () => number): void {
    let taken = bytesTaken();
    this.#timer = setInterval(() => {
      const now = bytesTaken();
      // A client that has left would have reset the connection instead of leaving bytes waiting.
      if (now === taken && this.#socket.writableLength === 0) this.#socket.destroy();
      taken = now;
    }, PAUSE_MS);
  }

  /** The response has ended. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
