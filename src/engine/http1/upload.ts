import type { Duplex, Readable } from 'node:stream';
import { type DeferredTask, defer } from './defer.ts';
import { Http1Error } from './http1-error.ts';

export interface UploadListener {
  /** A chunk of the body was written. */
  onUploadProgress(): void;
  /** The complete body was written. */
  onUploadEnd(): void;
  /** The body ended early, or is longer than announced. */
  onUploadError(error: Error): void;
}

/**
 * Streams a request body to the upstream, no faster than the socket accepts it. It sends the head together with the first bytes if
 * these are available, and otherwise alone. It does not wait for a slow client, because an idle upstream connection that closes in
 * the meantime would look like a failure of this request.
 */
export class Upload implements DeferredTask {
  readonly #socket: Duplex;
  readonly #body: Readable;
  readonly #length: number | 'chunked';
  readonly #listener: UploadListener;
  /** Empty once the head is written. */
  #head: string;
  #sentBytes = 0;

  constructor(socket: Duplex, head: string, body: Readable, length: number | 'chunked', listener: UploadListener) {
    this.#socket = socket;
    this.#body = body;
    this.#length = length;
    this.#listener = listener;
    this.#head = head;
  }

  start(): void {
    this.#body.on('data', this.#onData).on('end', this.#onEnd).on('error', this.#onError);
    this.#socket.on('drain', this.#onDrain);
    defer(this);
  }

  runDeferred(): void {
    this.#writeHead();
  }

  /** Ends the upload without an event. */
  stop(): void {
    this.#detach();
    // Without a listener, a late error of the destroyed body would end the process.
    this.#body.on('error', () => undefined).destroy();
  }

  readonly #onData = (bytes: Buffer): void => {
    this.#sentBytes += bytes.length;
    if (this.#length !== 'chunked' && this.#sentBytes > this.#length) {
      this.#onError(new Http1Error('request_malformed'));
      return;
    }
    const socket = this.#socket;
    socket.cork();
    this.#writeHead();
    if (this.#length === 'chunked') {
      socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
      socket.write(bytes);
      socket.write('\r\n', 'latin1');
    } else {
      socket.write(bytes);
    }
    socket.uncork();
    if (socket.writableNeedDrain) this.#body.pause();
    this.#listener.onUploadProgress();
  };

  readonly #onEnd = (): void => {
    if (this.#length !== 'chunked' && this.#sentBytes < this.#length) {
      this.#onError(new Http1Error('request_malformed'));
      return;
    }
    this.#writeHead();
    if (this.#length === 'chunked') this.#socket.write('0\r\n\r\n', 'latin1');
    this.#detach();
    this.#listener.onUploadEnd();
  };

  readonly #onError = (error: Error): void => {
    this.#detach();
    this.#listener.onUploadError(error);
  };

  readonly #onDrain = (): void => {
    this.#body.resume();
  };

  #writeHead(): void {
    if (this.#head !== '') this.#socket.write(this.#head, 'latin1');
    this.#head = '';
  }

  #detach(): void {
    this.#head = '';
    this.#body.off('data', this.#onData).off('end', this.#onEnd).off('error', this.#onError);
    this.#socket.off('drain', this.#onDrain);
  }
}
