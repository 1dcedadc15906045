import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The first bytes of every response, independent of its status. */
const STATUS_LINE_START = 'HTTP/1.1 ';
/** The delay of the second byte; the first one is sent at once, and the delay doubles for each further byte. */
const PROBE_MS = 10;
/** The interval between checks of a response that is being written. */
const CHECK_MS = 20;
/** After this many checks without progress, the client of a response without chunks counts as disconnected. */
const MAX_IDLE_CHECKS = 3;
/** Leading zeros of one chunk size. Some clients accept at most 16 digits, and the size may need eight. */
const MAX_ZEROS = 8;

/** `_headerSent` is undocumented: true once Node has written the head to the socket. */
type InternalServerResponse = ServerResponse & { readonly _headerSent?: boolean };

/**
 * Detects whether a client that has closed its side still reads the response (RFC 9112 section 9.6) or has disconnected. TCP
 * does not distinguish the two, but the kernel of a disconnected client resets the connection when a byte arrives. So the
 * gateway sends the first bytes of the status line before it knows the status. Within a chunked response it sends leading
 * zeros of the next chunk size (RFC 9112 section 7.1). Other responses have no such bytes, so their
 * client counts as disconnected when the response pauses.
 */
export class HalfCloseProbe {
  readonly #socket: Socket;
  #sentBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Sends the status line byte by byte until the response head is ready. */
  probe(delayMs = PROBE_MS): void {
    if (this.#sentBytes === STATUS_LINE_START.length || this.#socket.destroyed) return;
    this.#socket.write(STATUS_LINE_START[this.#sentBytes] as string);
    this.#sentBytes += 1;
    this.#timer = setTimeout(() => this.probe(2 * delayMs), delayMs);
  }

  /** Starts the probe after a delay, because the previous response has just served as a probe. */
  scheduleProbe(): void {
    this.#timer = setTimeout(() => this.probe(), PROBE_MS);
  }

  /** Stops the probe and returns the number of status line bytes already sent. */
  takeSentBytes(): number {
    const sent = this.#sentBytes;
    this.stop();
    this.#sentBytes = 0;
    return sent;
  }

  /**
   * Destroys the connection if the client disconnects during the response.
   *
   * @param bytesFlushed returns the bytes that the kernel has accepted
   */
  watch(response: InternalServerResponse, bytesFlushed: () => number): void {
    if (response.chunkedEncoding) this.#watchChunks(response);
    else this.#watchBytes(bytesFlushed);
  }

  #watchChunks(response: InternalServerResponse, lastBytes = this.#socket.bytesWritten, zeros = 0): void {
    const delayMs = CHECK_MS * 2 ** Math.max(zeros - 1, 0);
    this.#timer = setTimeout(() => {
      const socket = this.#socket;
      const isPaused = socket.bytesWritten === lastBytes && socket.writableLength === 0;
      const mayProbe = isPaused && zeros < MAX_ZEROS && response._headerSent === true && !response.writableEnded;
      if (mayProbe) socket.write('0');
      // After a chunk, the zeros of the next size begin.
      this.#watchChunks(response, socket.bytesWritten, isPaused ? zeros + Number(mayProbe) : 0);
    }, delayMs);
  }

  #watchBytes(bytesFlushed: () => number): void {
    let lastBytes = bytesFlushed();
    let idleChecks = 0;
    this.#timer = setInterval(() => {
      const bytes = bytesFlushed();
      // While bytes wait, a disconnected client would reset the connection by itself.
      idleChecks = bytes === lastBytes && this.#socket.writableLength === 0 ? idleChecks + 1 : 0;
      if (idleChecks === MAX_IDLE_CHECKS) this.#socket.destroy();
      lastBytes = bytes;
    }, CHECK_MS);
  }

  /** Stops all probes and checks. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
