import type { Duplex, Readable } from 'node:stream';
import { type DeferredTask, defer } from './defer.ts';
import { Http1Error } from './http1-error.ts';

export interface UploadListener {
  /** A piece of it went out. */
  onUploadProgress(): void;
  /** All of it went out. */
  onUploadEnd(): void;
  /** There is no more of it, and more was owed. */
  onUploadError(error: Error): void;
}

/**
 * A body on its way to the upstream as it comes, no faster than the socket takes it. The head goes with its first bytes where
 * they are there, and does not wait for a client that is slow: on a connection where a request was begun and nothing sent, the
 * upstream's close would be taken for its answer.
 */
export class Upload implements DeferredTask {
  readonly #socket: Duplex;
  readonly #body: Readable;
  readonly #length: number | 'chunked';
  readonly #user: UploadListener;
  #head: string;
  #sent = 0;

  constructor(socket: Duplex, head: string, body: Readable, length: number | 'chunked', user: UploadListener) {
    this.#socket = socket;
    this.#body = body;
    this.#length = length;
    this.#user = user;
    this.#head = head;
    body.on('data', this.#take).on('end', this.#finish).on('error', this.#fail);
    socket.on('drain', this.#goOn);
    defer(this);
  }

  runDeferred(): void {
    this.#writeHead();
  }

  /** Ends it wherever it is; it tells nothing more. */
  stop(): void {
    this.#leave();
    // What it still says is nobody's.
    this.#body.on('error', () => undefined).destroy();
  }

  readonly #take = (bytes: Buffer): void => {
    this.#sent += bytes.length;
    if (this.#length !== 'chunked' && this.#sent > this.#length) {
      this.#fail(new Http1Error('request_malformed'));
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
    this.#user.onUploadProgress();
  };

  readonly #finish = (): void => {
    if (this.#length !== 'chunked' && this.#sent < this.#length) {
      this.#fail(new Http1Error('request_malformed'));
      return;
    }
    this.#writeHead();
    if (this.#length === 'chunked') this.#socket.write('0\r\n\r\n', 'latin1');
    this.#leave();
    this.#user.onUploadEnd();
  };

  readonly #fail = (error: Error): void => {
    this.#leave();
    this.#user.onUploadError(error);
  };

  readonly #goOn = (): void => {
    this.#body.resume();
  };

  #writeHead(): void {
    if (this.#head !== '') this.#socket.write(this.#head, 'latin1');
    this.#head = '';
  }

  #leave(): void {
    this.#head = '';
    this.#body.off('data', this.#take).off('end', this.#finish).off('error', this.#fail);
    this.#socket.off('drain', this.#goOn);
  }
}
