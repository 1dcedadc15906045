import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { AdminMetrics } from './admin-metrics.ts';
import { type CpuBudget, SLICE_MS } from './cpu-budget.ts';

const SLICE_LENGTH = 65_536;
/** Responses that are written in slices at one time. */
const MAX_RESPONSES = 8;
/** A reader that takes longer over a slice gives its place to a new one. */
const SLOW_READER_MS = 500;
/** A reader that takes longer over a slice is disconnected. */
const STALLED_READER_MS = 10_000;

interface ResponseInProgress {
  readonly response: ServerResponse;
  /** When the reader was given a slice that it has not taken; `undefined` while the gateway works on the next one. */
  offeredAt: number | undefined;
}

/**
 * Writes responses that are too large to be made at once: slice by slice, each when the reader has taken those before it, so
 * that neither the event loop nor memory is held.
 */
export class LargeResponseWriter {
  readonly #share: CpuBudget;
  readonly #counts: AdminMetrics;
  readonly #writing = new Set<ResponseInProgress>();

  constructor(share: CpuBudget, counts: AdminMetrics) {
    this.#share = share;
    this.#counts = counts;
  }

  /** Makes room for one more response, by disconnecting the slowest reader if there is one; false if there is no room. */
  makeRoom(): boolean {
    if (this.#writing.size < MAX_RESPONSES) return true;
    const now = performance.now();
    let slowest: ResponseInProgress | undefined;
    for (const writing of this.#writing)
      if ((writing.offeredAt ?? now) < (slowest?.offeredAt ?? now - SLOW_READER_MS)) slowest = writing;
    slowest?.response.destroy();
    if (slowest !== undefined) this.#writing.delete(slowest);
    return slowest !== undefined;
  }

  /** Resolves when the response has ended, however it ended. */
  async write(response: ServerResponse, pieces: Iterable<string>, isCompressed: boolean): Promise<void> {
    const writing: ResponseInProgress = { response, offeredAt: undefined };
    this.#writing.add(writing);
    const slices = Readable.from(this.#slices(pieces, writing), { objectMode: true, highWaterMark: 1 });
    const compression = isCompressed ? [createGzip({ level: constants.Z_BEST_SPEED })] : [];
    try {
      await pipeline([slices, ...compression, response]);
    } catch (error) {
      // Half a response must not look like a whole one. If the reader left, nothing has failed.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE')
        this.#counts.recordResponseError(error as Error);
      response.destroy();
    } finally {
      this.#writing.delete(writing);
    }
  }

  async *#slices(pieces: Iterable<string>, writing: ResponseInProgress): AsyncGenerator<Buffer> {
    const iterator = pieces[Symbol.iterator]();
    for (;;) {
      const { text, isLast } = await this.#share.run(() => sliceOf(iterator));
      writing.offeredAt = performance.now();
      const stalled = setTimeout(() => writing.response.destroy(), STALLED_READER_MS).unref();
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

function sliceOf(pieces: Iterator<string>): { text: string; isLast: boolean } {
  const endMs = performance.now() + SLICE_MS;
  let text = '';
  for (;;) {
    const { value, done } = pieces.next();
    if (done) return { text, isLast: true };
    text += value;
    if (text.length >= SLICE_LENGTH || performance.now() >= endMs) return { text, isLast: false };
  }
}
