import type { Duplex } from 'node:stream';
import { bytesSent } from '../node-internals/tcp-handle.ts';
import type { ResponseWriter } from './response-writer.ts';

/** The first bytes of every response, independent of its status. */
const STATUS_LINE_START = 'HTTP/1.1 ';
/** The delay of the second byte. It doubles for each further byte. */
export const PROBE_MS = 10;
/** The interval between checks of a response that is being written. */
const CHECK_MS = 20;
/** After this many checks without progress, the client of a response without chunks counts as disconnected. */
const MAX_IDLE_CHECKS = 3;
/** Leading zeros of one chunk size. Some clients accept at most 16 digits, and the size may need eight. */
const MAX_ZEROS = 8;

/**
 * Detects whether a client that has closed its side still reads the response (RFC 9112 section 9.6) or has disconnected. TCP
 * does not distinguish the two, but the kernel of a disconnected client resets the connection when a byte arrives. So the
 * gateway sends the first bytes of the status line before it knows the status. Within a chunked response it sends leading
 * zeros of the next chunk size (RFC 9112 section 7.1). Other responses have no such bytes, so their
 * client counts as disconnected when the response pauses.
 */
export class HalfCloseProbe {
  readonly #socket: Duplex;
  readonly #carrier: Duplex;
  #sentBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param carrier the socket of TCP below that of TLS */
  constructor(socket: Duplex, carrier: Duplex) {
    this.#socket = socket;
    this.#carrier = carrier;
  }

  /** Sends the status line byte by byte until the response head is ready. @param delayMs the time until the first byte */
  probe(delayMs: number): void {
    this.#timer = setTimeout(() => {
      if (this.#sentBytes === STATUS_LINE_START.length || this.#socket.destroyed) return;
      this.#socket.write(STATUS_LINE_START[this.#sentBytes] as string);
      this.#sentBytes += 1;
      this.probe(Math.max(2 * delayMs, PROBE_MS));
    }, delayMs);
  }

  /** Stops the probe and returns the number of status line bytes already sent. */
  takeSentBytes(): number {
    const sent = this.#sentBytes;
    this.stop();
    this.#sentBytes = 0;
    return sent;
  }

  /** Destroys the connection if the client disconnects during the response. @param pauses the checks without progress so far */
  watch(response: ResponseWriter, pauses = 0): void {
    this.stop();
    const { isChunked } = response;
    const lastBytes = bytesSent(this.#carrier);
    const delayMs = isChunked ? CHECK_MS * 2 ** Math.max(pauses - 1, 0) : CHECK_MS;
    this.#timer = setTimeout(() => {
      // While bytes wait, a disconnected client would reset the connection by itself.
      const isPaused = bytesSent(this.#carrier) === lastBytes && this.#socket.writableLength === 0;
      const mayProbe = isChunked && pauses < MAX_ZEROS && response.isHeadWritten && !response.isEnded;
      if (isPaused && mayProbe) this.#socket.write('0');
      if (isPaused && !isChunked && pauses + 1 === MAX_IDLE_CHECKS) this.#socket.destroy();
      // After a chunk, the zeros of the next size begin.
      this.watch(response, isPaused ? pauses + Number(mayProbe || !isChunked) : 0);
    }, delayMs);
  }

  /** Stops all probes and checks. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
