import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { type DeferredTask, defer } from '../../http1/defer.ts';
import type { Exchange } from '../exchange.ts';
import { Refusal } from '../response/refusal.ts';
import { PacedReads } from '../server/paced-reads.ts';
import { ClientDisconnected, UpstreamError } from '../upstream/upstream-error.ts';
import { GrowingBuffer } from './growing-buffer.ts';

/** A piece of this size goes on by itself; smaller ones of one turn of the event loop go on together. */
const LARGE_BYTES = 16_384;
const MAX_GATHERED_BYTES = 65_536;

/**
 * A request's body on its way to the upstream. It stands between the two because the HTTP client destroys
 * the body of an exchange that fails, and the request must live on to be answered.
 */
export class RequestBody extends Readable implements DeferredTask {
  readonly #exchange: Exchange;
  readonly #request: IncomingMessage;
  readonly #limitBytes: number;
  readonly #reads: PacedReads;
  #gathered: GrowingBuffer | undefined;
  #size = 0;
  #isBegun = false;

  /** @param limitBytes a longer body fails with `body_too_large` */
  constructor(exchange: Exchange, limitBytes: number) {
    super({ highWaterMark: 65_536 });
    this.#exchange = exchange;
    this.#request = exchange.request;
    this.#limitBytes = limitBytes;
    this.#reads = new PacedReads(exchange.request.socket);
  }

  /** Bytes of it were asked for: they can be read no second time. */
  get isStarted(): boolean {
    return this.#isBegun;
  }

  override _read(): void {
    if (this.#isBegun) this.#request.resume();
    else this.#begin();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#request.off('data', this.#take);
    this.#request.off('end', this.#end);
    this.#gathered = undefined;
    // Nobody wants the rest: a client that goes on sending it after its answer would be stuck, and what it asks next with it.
    if (this.#isBegun) this.#request.resume();
    callback(error);
  }

  /** What goes on, now that this came; `null`: that is all. False: no more for now. */
  protected pushChunk(chunk: Buffer | null): boolean {
    return this.push(chunk);
  }

  #begin(): void {
    this.#isBegun = true;
    this.#exchange.sendContinue();
    this.#request.on('data', this.#take);
    this.#request.on('end', this.#end);
    this.#request.on('close', () => {
      if (!this.#request.complete) this.destroy(new ClientDisconnected());
    });
  }

  runDeferred(): void {
    this.#flush();
  }

  readonly #take = (chunk: Buffer): void => {
    this.#size += chunk.length;
    this.#exchange.receivedBytes = this.#size;
    this.#reads.count(chunk.length);
    if (this.#size > this.#limitBytes) {
      this.destroy(new UpstreamError(new Refusal('body_too_large')));
      return;
    }
    if (chunk.length < LARGE_BYTES) {
      this.#gather(chunk);
    } else {
      this.#flush();
      this.#pass(chunk);
    }
  };

  /** One-byte chunks would each cost a write, and reach the upstream as one-byte chunks. */
  #gather(chunk: Buffer): void {
    if (this.#gathered === undefined) {
      this.#gathered = new GrowingBuffer(MAX_GATHERED_BYTES);
      defer(this);
    }
    if (this.#gathered.add(chunk)) return;
    this.#flush();
    this.#gather(chunk);
  }

  #flush(): void {
    const gathered = this.#gathered;
    if (gathered === undefined) return;
    this.#gathered = undefined;
    this.#pass(gathered.bytes());
  }

  #pass(chunk: Buffer): void {
    if (!this.pushChunk(chunk)) this.#request.pause();
  }

  readonly #end = (): void => {
    this.#flush();
    this.pushChunk(null);
  };
}
