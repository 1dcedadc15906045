import { bytesSent } from '../node-internals/tcp-handle.ts';
import { HalfCloseProbe, PROBE_MS } from './half-close-probe.ts';
import { type ClientSocket, RequestReader } from './request-reader.ts';
import type { ResponseWriter } from './response-writer.ts';

/** How long a client may continue to send after the last response. */
export const LINGER_MS = 1_000;
/** An idle connection stays open for this much longer than announced, so that a request in transit is not lost. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

/** The socket below HTTP and TLS. */
export interface CarrierSocket extends ClientSocket {
  resetAndDestroy(): unknown;
}

/** The connection of a client: its time limits, and its end. */
export abstract class ClientConnection extends RequestReader {
  /** True if the gateway closed the connection because the client stalled. */
  isStalled = false;
  readonly #carrier: CarrierSocket;
  readonly #halfClose: HalfCloseProbe;
  #isTunnel = false;
  /** The message that the client should continue, and its bytes at the latest check. */
  #awaited: 'response' | 'body' | undefined;
  #awaitedBytes = 0;
  #stalledChecks = 0;

  /** @param carrier the socket of TCP below that of TLS */
  constructor(socket: ClientSocket, carrier: CarrierSocket) {
    super(socket);
    this.#carrier = carrier;
    this.#halfClose = new HalfCloseProbe(socket, carrier);
    // Otherwise Node would close the connection before pending responses are sent.
    socket.allowHalfOpen = true;
    socket
      .on('end', this.#onSocketEnd)
      .on('drain', this.#onDrain)
      // The `close` event follows.
      .on('error', () => undefined)
      .on('close', () => {
        this.isClosing = true;
        this.ahead = undefined;
        this.#endExchange(false);
      });
  }

  /** True between two requests. A new connection is not idle, because the client may be about to send its first request. */
  get isIdle(): boolean {
    const isWaiting = this.isBetweenRequests && this.ahead === undefined;
    return this.response === undefined && !this.isClosing && !this.isUnused && isWaiting;
  }

  /** True for a connection without a request: it is new or idle, or its client is sending a head, however slowly. */
  get isReplaceable(): boolean {
    return !this.isClosing && this.response === undefined && this.body.isComplete;
  }

  /** True if the connection can be closed to make room for another one, whatever it does now. */
  get isEvictable(): boolean {
    return !this.socket.destroyed && (!this.isClosing || this.#isTunnel);
  }

  /** True until the first byte arrives: browsers open connections in advance. */
  get isUnused(): boolean {
    return this.readBytes === 0;
  }

  /** True while the rest of a body is read whose response has ended. */
  get isDiscarding(): boolean {
    return !this.body.isComplete && this.response === undefined;
  }

  /** True while the response has begun and the request has not ended. */
  get isResponding(): boolean {
    return this.response?.hasBegun === true && this.request?.isComplete === false;
  }

  takeSentBytes(): number {
    const sent = this.#halfClose.takeSentBytes();
    if (this.response?.isChunked === true) this.#halfClose.watch(this.response);
    return sent;
  }

  onResponseEnd(response: ResponseWriter): void {
    const { socket } = this;
    if (response !== this.response || socket.errored !== null || socket.destroyed) return;
    if (!response.isPersistent) this.closeGracefully();
    this.#endExchange(true);
    if (this.isClosing || socket.destroyed) return;
    this.sinceMs = performance.now();
    if (this.isPaused) this.updateReads();
    if (this.ahead !== undefined) this.advanceLater();
    else if (this.isHalfClosed) this.onEnd();
  }

  /** Leaves the socket to a tunnel. Returns the bytes that arrived early. */
  detach(): Buffer {
    const early = this.ahead?.bytes() ?? Buffer.alloc(0);
    this.isClosing = true;
    this.#isTunnel = true;
    this.ahead = undefined;
    this.socket.pause().off('data', this.onData).off('end', this.#onSocketEnd).off('drain', this.#onDrain);
    return early;
  }

  /**
   * Closes the connection after the pending writes. For `LINGER_MS` the gateway reads and discards input: closing with unread
   * bytes would reset the connection, and the client could lose the end of the response (RFC 9112 section 9.6).
   */
  closeGracefully(lastText = ''): void {
    this.discardInput();
    if (lastText === '') this.socket.end();
    else this.socket.end(lastText, 'latin1');
    const timer = setTimeout(() => this.socket.destroy(), LINGER_MS);
    this.socket.once('close', () => clearTimeout(timer));
  }

  /** Ends the current exchange, sends a last text and closes the connection. */
  refuseInput(lastText: string): void {
    this.#endExchange(false);
    this.closeGracefully(lastText);
  }

  /** Closes the connection at once, to make room for another one. A response in flight must not look complete. */
  evict(onClose: () => void): void {
    this.isClosing = true;
    this.socket.once('close', onClose);
    if (this.response !== undefined) this.reset();
    else this.socket.destroy();
  }

  /** Resets the connection: a client could read a normal close as the end of a response (RFC 9112 section 8). */
  reset(): void {
    // A unix socket has no address, and cannot be reset.
    if (this.#carrier.remoteAddress !== undefined) this.#carrier.resetAndDestroy();
    this.socket.destroy();
  }

  /** Checks the time limits of the client. */
  checkTimeouts(nowMs: number): void {
    if (this.isClosing || this.isHandshake) return;
    const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs } = this.handler.limits;
    const ms = nowMs - this.sinceMs;
    if (this.isIdle) {
      if (keepAliveTimeoutMs > 0 && ms > keepAliveTimeoutMs + KEEP_ALIVE_MARGIN_MS) this.closeGracefully();
    } else if (this.isDiscarding) {
      if (ms > LINGER_MS) this.closeGracefully();
    } else {
      const limitMs = !this.body.isComplete ? requestTimeoutMs : this.response === undefined ? headersTimeoutMs : 0;
      if (limitMs > 0 && ms > limitMs) this.handler.onRequestError(this, 'late');
    }
  }

  /** Returns the number of consecutive checks in which the client read no byte of a response, or sent no byte of a body. */
  checkProgress(): number {
    const awaited = this.#awaitedPart();
    const bytes = awaited === 'response' ? bytesSent(this.#carrier) : this.readBytes;
    const isStalled = awaited !== undefined && awaited === this.#awaited && bytes === this.#awaitedBytes;
    this.#stalledChecks = isStalled ? this.#stalledChecks + 1 : 0;
    this.#awaited = awaited;
    this.#awaitedBytes = bytes;
    return this.#stalledChecks;
  }

  /** A client with unread response bytes may send its body later. */
  #awaitedPart(): 'response' | 'body' | undefined {
    if (this.response === undefined || this.#isTunnel) return undefined;
    if (this.socket.writableLength > 0) return 'response';
    return this.request?.isAwaited === true ? 'body' : undefined;
  }

  readonly #onDrain = (): void => this.response?.drain();

  readonly #onSocketEnd = (): void => {
    this.isHalfClosed = true;
    this.onEnd();
  };

  protected onEnd(): void {
    if (this.isClosing) return;
    if (!this.isBetweenRequests || this.isHandshake) this.socket.destroy();
    else if (this.response !== undefined) this.#onHalfClosed(this.response);
    // Waiting requests are served first.
    else if (this.ahead === undefined) this.closeGracefully();
  }

  protected onHalfClosedRequest(): void {
    // The previous response has just served as a probe.
    this.#halfClose.probe(PROBE_MS);
  }

  #onHalfClosed(response: ResponseWriter): void {
    if (response.hasBegun) this.#halfClose.watch(response);
    else {
      if (this.ahead === undefined) response.isPersistent = false;
      this.#halfClose.probe(0);
    }
  }

  #endExchange(isFinished: boolean): void {
    const { response, request } = this;
    this.response = undefined;
    this.request = undefined;
    if (this.isHalfClosed) this.#halfClose.stop();
    response?.setOver(isFinished);
    if (!isFinished) request?.close();
  }
}
