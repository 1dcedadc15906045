import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { AdminMetrics } from './admin-metrics.ts';
import { type CpuBudget, SLICE_MS } from './cpu-budget.ts';

const SLICE_LENGTH = 65_536;
/** The most large responses that are written at the same time. */
const MAX_RESPONSES = 8;
/** A client that needs longer for a slice may be disconnected to make room for another response. */
const SLOW_CLIENT_MS = 500;
/** A client that needs longer for a slice is disconnected. */
const STALLED_CLIENT_MS = 10_000;

interface ResponseInProgress {
  readonly response: ServerResponse;
  /** When the gateway began to write the current slice; `undefined` while it prepares the next one. */
  offeredAt: number | undefined;
}

/**
 * Writes large responses in slices, each when the client has received the previous ones. A large response therefore
 * neither blocks the event loop nor fills memory.
 */
export class LargeResponseWriter {
  readonly #cpuBudget: CpuBudget;
  readonly #metrics: AdminMetrics;
  readonly #writing = new Set<ResponseInProgress>();

  constructor(cpuBudget: CpuBudget, metrics: AdminMetrics) {
    this.#cpuBudget = cpuBudget;
    this.#metrics = metrics;
  }

  /** Makes room for one more response, if necessary by disconnecting the slowest client. Returns false if no client is slow. */
  makeRoom(): boolean {
    if (this.#writing.size < MAX_RESPONSES) return true;
    const now = performance.now();
    let slowest: ResponseInProgress | undefined;
    for (const writing of this.#writing)
      if ((writing.offeredAt ?? now) < (slowest?.offeredAt ?? now - SLOW_CLIENT_MS)) slowest = writing;
    slowest?.response.destroy();
    if (slowest !== undefined) this.#writing.delete(slowest);
    return slowest !== undefined;
  }

  /** Resolves when the response has ended or failed. */
  async write(response: ServerResponse, chunks: Iterable<string>, isCompressed: boolean): Promise<void> {
    const writing: ResponseInProgress = { response, offeredAt: undefined };
    this.#writing.add(writing);
    const slices = Readable.from(this.#slices(chunks, writing), { objectMode: true, highWaterMark: 1 });
    const compression = isCompressed ? [createGzip({ level: constants.Z_BEST_SPEED })] : [];
    try {
      await pipeline([slices, ...compression, response]);
    } catch (error) {
      // Destroy the connection, so that the client does not take half a response for a complete one. A disconnected
      // client is not an error.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE')
        this.#metrics.recordResponseError(error as Error);
      response.destroy();
    } finally {
      this.#writing.delete(writing);
    }
  }

  async *#slices(chunks: Iterable<string>, writing: ResponseInProgress): AsyncGenerator<Buffer> {
    const iterator = chunks[Symbol.iterator]();
    for (;;) {
      const { text, isLast } = await this.#cpuBudget.run(() => sliceOf(iterator));
      writing.offeredAt = performance.now();
      const stalled = setTimeout(() => writing.response.destroy(), STALLED_CLIENT_MS).unref();
      try {
        if (text !== '') yield Buffer.from(text);
      } finally {
        clearTimeout(stalled);
      }
      writing.offeredAt = undefined;
      if (isLast) return;
    }
  }
}

function sliceOf(chunks: Iterator<string>): { text: string; isLast: boolean } {
  const endMs = performance.now() + SLICE_MS;
  let text = '';
  for (;;) {
    const { value, done } = chunks.next();
    if (done) return { text, isLast: true };
    text += value;
    if (text.length >= SLICE_LENGTH || performance.now() >= endMs) return { text, isLast: false };
  }
}
