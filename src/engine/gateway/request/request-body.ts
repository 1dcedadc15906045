import { Readable } from 'node:stream';
import type { BodySink, ClientRequest } from '../../http1/client-request.ts';
import { type DeferredTask, defer } from '../../http1/event-loop.ts';
import { GrowingBuffer } from '../../http1/growing-buffer.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';
import { ClientDisconnected, UpstreamError } from '../upstream/upstream-error.ts';

/** Chunks of at least this size are forwarded separately. Smaller ones that arrive in one turn of the event loop are joined. */
const LARGE_CHUNK_BYTES = 16_384;
const MAX_GATHERED_BYTES = 65_536;

/**
 * Streams a request body to the upstream. It is separate from the client's request, because the HTTP/1.1 client destroys the body of
 * a failed exchange, and the client's request must stay open for the response.
 */
export class RequestBody extends Readable implements DeferredTask, BodySink {
  readonly #exchange: Exchange;
  readonly #request: ClientRequest;
  readonly #limitBytes: number;
  #smallChunks: GrowingBuffer | undefined;
  #size = 0;
  #isStarted = false;

  /** @param limitBytes a longer body fails with `body_too_large` */
  constructor(exchange: Exchange, limitBytes: number) {
    super({ highWaterMark: 65_536 });
    this.#exchange = exchange;
    this.#request = exchange.request;
    this.#limitBytes = limitBytes;
  }

  /** True once reading has begun: the body cannot be read again for a retry. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  override _read(): void {
    if (this.#isStarted) this.#request.resume();
    else this.#start();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#smallChunks = undefined;
    // Otherwise a client that is still sending the body would block, and so would its next request.
    if (this.#isStarted) this.#request.discardBody();
    callback(error);
  }

  /** Forwards a chunk, or the end for `null`. Returns false if the upstream reads more slowly than the client sends. */
  protected pushChunk(chunk: Buffer | null): boolean {
    return this.push(chunk);
  }

  #start(): void {
    this.#isStarted = true;
    this.#exchange.copyBody();
    this.#exchange.sendContinue();
    this.#request.readBody(this);
  }

  runDeferred(): void {
    this.#flush();
  }

  onBodyData(chunk: Buffer): void {
    this.#size += chunk.length;
    this.#exchange.receivedBytes = this.#size;
    if (this.#size > this.#limitBytes) {
      this.destroy(new UpstreamError(new Refusal('body_too_large')));
      return;
    }
    if (chunk.length < LARGE_CHUNK_BYTES) {
      this.#gather(chunk);
    } else {
      this.#flush();
      this.#forward(chunk);
    }
  }

  onBodyEnd(): void {
    this.#flush();
    this.pushChunk(null);
  }

  onBodyClose(): void {
    this.destroy(new ClientDisconnected());
  }

  /** Joins small chunks. Otherwise each would cost a write, and reach the upstream as small as the client sent it. */
  #gather(chunk: Buffer): void {
    if (this.#smallChunks === undefined) {
      this.#smallChunks = new GrowingBuffer(MAX_GATHERED_BYTES);
      defer(this);
    }
    if (this.#smallChunks.add(chunk)) return;
    this.#flush();
    this.#gather(chunk);
  }

  #flush(): void {
    const smallChunks = this.#smallChunks;
    if (smallChunks === undefined) return;
    this.#smallChunks = undefined;
    this.#forward(smallChunks.bytes());
  }

  #forward(chunk: Buffer): void {
    if (!this.pushChunk(chunk)) this.#request.pause();
  }
}
