import type { Duplex } from 'node:stream';
import type { HostAddress } from '../dns/host-address.ts';
import { type DeferredTask, defer } from './defer.ts';
import type { Dial, SocketHandler } from './dial.ts';
import { Http1Error } from './http1-error.ts';
import { KeepAliveTimeout } from './keep-alive-timeout.ts';
import { type PacedSource, PieceCounter, resumeLater } from './read-pace.ts';
import type { ResponseHead } from './response-head.ts';
import { ResponseParser, type ResponseParserCallbacks } from './response-parser.ts';
import { RestartableTimeout } from './restartable-timeout.ts';
import { sendRequest } from './send-request.ts';
import type { Upload, UploadListener } from './upload.ts';
import type { ResponseSink, UpstreamRequest } from './upstream-request.ts';
import { interceptWriteErrors } from './write-errors.ts';

/** How long to wait for an early response after a write failed. It is in the kernel's buffer if there is one. */
const EARLY_RESPONSE_MS = 1_000;

export interface UpstreamConnectionOptions {
  readonly dial: Dial;
  readonly responseTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** It is for a handshake, which may make a tunnel of it. */
  readonly isForTunnel: boolean;
  /** It was closed while nobody used it. */
  readonly onClosed: (connection: UpstreamConnection) => void;
}

/** One socket to an upstream, from its opening to its end. It carries one exchange of HTTP/1.1 after the other. */
export class UpstreamConnection
  implements ResponseParserCallbacks, PacedSource, SocketHandler, DeferredTask, UploadListener
{
  readonly #onClosed: UpstreamConnectionOptions['onClosed'];
  readonly #response: RestartableTimeout;
  readonly #idle: RestartableTimeout;
  readonly #keptTime = new KeepAliveTimeout();
  readonly #parser = new ResponseParser(this);
  readonly #socket: Duplex;
  readonly #restoreWrites: () => void;
  #state: 'opening' | 'free' | 'called' | 'busy' | 'closed' = 'opening';
  #call: UpstreamRequest | undefined;
  #user: ResponseSink | undefined;
  #upload: Upload | undefined;
  /** Exchanges that came to their end. */
  #carried = 0;
  #address: HostAddress | undefined;
  /** A byte has come for the exchange in hand. */
  #isAnswered = false;
  /** The response began before the request was written: the upstream may be about to close. */
  #isEarly = false;
  #isPaused = false;
  #wasPaused = false;
  readonly #pieces = new PieceCounter();
  /** Reads wait for their turn, since the response comes in very small chunks. */
  #isSuspended = false;
  /** The peer closed while the request was written. */
  #writeError: Error | undefined;
  #earlyResponse: NodeJS.Timeout | undefined;

  constructor({ dial, responseTimeoutMs, idleTimeoutMs, isForTunnel, onClosed }: UpstreamConnectionOptions) {
    this.#onClosed = onClosed;
    this.#response = new RestartableTimeout(responseTimeoutMs, () => this.#lookForAnswer());
    this.#idle = new RestartableTimeout(idleTimeoutMs, () => this.#close(new Http1Error('idle_timeout')));
    this.#socket = dial(this, isForTunnel);
    this.#restoreWrites = interceptWriteErrors(this.#socket, this.#onWriteFailed);
    this.#socket.on('error', this.#onFailed).on('end', this.#onEnded).on('close', this.#onGone);
  }

  get isIdle(): boolean {
    return this.#state === 'free';
  }

  /** True if no exchange may begin on it: the other side may be about to close it, or its address is no longer the server's. */
  get isStale(): boolean {
    return this.#address?.isRemoved === true || this.#keptTime.isExpired;
  }

  /** Whether it was kept alive from an earlier exchange and gave no byte for the last one: it may have been closed before. */
  get mayHaveBeenStale(): boolean {
    return this.#carried > 0 && !this.#isAnswered;
  }

  /** True if the user has paused the response of the exchange in hand: a slow client may be why the upstream ended it. */
  get wasPaused(): boolean {
    return this.#wasPaused;
  }

  /**
   * Sends a request: as soon as it is open, or when what had come on it unasked has been read, since that would be taken for the
   * answer (GHSA-35p6-xmwp-9g52 tells of a client that was poisoned so).
   */
  send(call: UpstreamRequest, user: ResponseSink): void {
    this.#call = call;
    this.#user = user;
    if (this.#state === 'opening') return;
    this.#state = 'called';
    defer(this);
  }

  /** Ends the exchange in hand, wherever it is, with this error, and closes. */
  abort(reason: Error): void {
    if (this.#state === 'called') this.#state = 'busy';
    this.#close(reason);
  }

  /** Nothing more is read for now. */
  pause(): void {
    this.#isPaused = true;
    this.#wasPaused = true;
    this.#idle.stop();
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#parser.isInBody) this.#idle.start();
    if (!this.#isSuspended) this.#socket.resume();
  }

  resumeReads(): void {
    this.#isSuspended = false;
    if (!this.#isPaused && this.#state !== 'closed') this.#socket.resume();
  }

  /** Closes it, and tells nobody. */
  destroy(): void {
    this.#user = undefined;
    this.#shut();
  }

  onOpen(address?: HostAddress): void {
    if (this.#state !== 'opening') return;
    this.#address = address;
    this.#state = 'free';
    if (this.#call !== undefined) this.#begin(this.#call);
  }

  runDeferred(): void {
    if (this.#state === 'called' && this.#call !== undefined) this.#begin(this.#call);
  }

  onBytes(bytes: Buffer): void {
    if (this.#state !== 'busy') {
      this.#close(new Http1Error('response_unexpected'));
      return;
    }
    this.#isAnswered = true;
    try {
      this.#parser.parse(bytes);
    } catch (error) {
      this.#close(error as Error);
      return;
    }
    if (!this.#parser.isInBody) return;
    const { pieces } = this.#parser;
    if (pieces > 0 && this.#pieces.add(pieces, bytes.length)) this.#suspend();
    if (!this.#isPaused) this.#idle.start();
    this.#user?.onReadComplete();
  }

  #suspend(): void {
    if (this.#isSuspended) return;
    this.#isSuspended = true;
    this.#socket.pause();
    resumeLater(this);
  }

  onUploadProgress(): void {
    if (!this.#parser.isInBody) this.#waitForAnswer();
  }

  onUploadEnd(): void {
    this.#upload = undefined;
    this.onUploadProgress();
  }

  onUploadError(error: Error): void {
    this.#close(error);
  }

  onHead(head: ResponseHead): void {
    // Nobody here asks to go on: it says nothing (RFC 9110 section 15.2.1), and gives no new time.
    if (head.status === 100) return;
    if (head.status < 200) this.#waitForAnswer();
    else {
      this.#isEarly = this.#upload !== undefined;
      this.#response.stop();
    }
    this.#user?.onHead(head);
  }

  onData(bytes: Buffer): void {
    this.#user?.onData(bytes);
  }

  onEnd(trailers: readonly string[], isKept: boolean, keepAlive: string | undefined): void {
    const user = this.#user;
    // What has not left by now would be in the next request's way.
    const isDone = !this.#isEarly && !this.#socket.writableNeedDrain && this.#writeError === undefined;
    // Who refuses a handshake may have changed its protocol all the same.
    const mayGoOn = isDone && this.#call?.isHandshake !== true;
    this.resume();
    this.#idle.stop();
    this.#keptTime.start(keepAlive);
    this.#call = undefined;
    this.#user = undefined;
    this.#carried += 1;
    if (isKept && mayGoOn && !this.#keptTime.isExpired) this.#state = 'free';
    else this.#shut();
    user?.onEnd(trailers);
  }

  onUpgrade(head: ResponseHead, first: Buffer): void {
    const user = this.#user;
    const socket = this.#socket;
    if (this.#call?.isHandshake !== true) throw new Http1Error('upgrade_unexpected');
    socket.off('error', this.#onFailed).off('end', this.#onEnded).off('close', this.#onGone).removeAllListeners('data');
    this.#restoreWrites();
    socket.pause();
    if (first.length > 0) socket.unshift(first);
    this.#release();
    user?.onUpgrade(head, socket);
  }

  #begin(call: UpstreamRequest): void {
    this.#state = 'busy';
    this.#isAnswered = false;
    this.#isEarly = false;
    this.#wasPaused = false;
    this.#parser.begin(call.method);
    this.#user?.onRequestStart();
    if (this.#state !== 'busy') return;
    try {
      this.#upload = sendRequest(this.#socket, call, this);
    } catch (error) {
      this.#close(error as Error);
      return;
    }
    if (this.#upload === undefined) this.#waitForAnswer();
  }

  #waitForAnswer(): void {
    if (this.#writeError !== undefined) return;
    if (this.#call?.hasResponseTimeout === true) this.#response.start();
  }

  /** While the request is still coming, it is the client who takes the time, unless the socket takes no more. */
  #lookForAnswer(): void {
    if (this.#upload !== undefined && !this.#socket.writableNeedDrain) this.#response.start();
    else this.#close(new Http1Error('response_timeout'));
  }

  readonly #onFailed = (error: Error): void => this.#close(error);

  /** The upstream takes no more of the request. It may have responded before, so read that first. */
  readonly #onWriteFailed = (error: Error): void => {
    if (this.#state !== 'busy') {
      this.#close(error);
      return;
    }
    this.#writeError = error;
    this.#upload?.stop();
    this.#upload = undefined;
    this.#response.stop();
    this.#earlyResponse = setTimeout(() => {
      if (!this.#parser.isInBody) this.#close(error);
    }, EARLY_RESPONSE_MS);
  };

  readonly #onEnded = (): void => {
    // Behind a failed write the end may be a reset, which completes no response (RFC 9112 section 8).
    if (this.#writeError !== undefined || !this.#parser.end()) this.#onGone();
  };

  readonly #onGone = (): void => this.#close(this.#writeError ?? new Http1Error('connection_closed'));

  #close(error: Error): void {
    if (this.#state === 'closed') return;
    const user = this.#user;
    const isStale = this.#state === 'called';
    this.#shut();
    if (user === undefined) this.#onClosed(this);
    else if (isStale) user.onStale();
    else user.onError(error);
  }

  #shut(): void {
    this.#release();
    this.#socket.destroy();
  }

  /** The socket is no more its own. */
  #release(): void {
    this.#state = 'closed';
    this.#call = undefined;
    this.#user = undefined;
    this.#parser.stop();
    this.#upload?.stop();
    this.#upload = undefined;
    this.#response.close();
    this.#idle.close();
    clearTimeout(this.#earlyResponse);
  }
}
