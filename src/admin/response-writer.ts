import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { STATUS_REASONS } from '../engine/gateway/response/refusal.ts';
import { type AdminResponse, busyResponse } from './admin-endpoint.ts';
import type { AdminExchange, HttpResponse } from './admin-listener.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import { type CpuBudget, SLICE_MS } from './cpu-budget.ts';

/** Compressing a shorter body takes longer than sending it uncompressed. */
const MIN_COMPRESSED_BYTES = 1_024;

/** Loaded on first use: it takes 4 MB. */
const require = createRequire(import.meta.url);
const loadZlib = (): typeof import('node:zlib') => require('node:zlib');
/** `Z_BEST_SPEED` */
const FASTEST = { level: 1 };

async function sendBuffered(exchange: AdminExchange, content: AdminResponse, body: Buffer): Promise<void> {
  const isCompressed = body.length >= MIN_COMPRESSED_BYTES && acceptsGzip(exchange);
  const bytes = isCompressed ? await promisify(loadZlib().gzip)(body, FASTEST) : body;
  writeHead(exchange, content, isCompressed, bytes.length).end(bytes);
}

function writeHead(
  { request, response }: AdminExchange,
  { status, headers }: AdminResponse,
  isCompressed = false,
  length?: number,
): HttpResponse {
  // Unread bytes of a refused request would corrupt the next request on this connection.
  if (!request.isComplete) response.isPersistent = false;
  const all = {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding',
    ...headers,
    ...(isCompressed && { 'Content-Encoding': 'gzip' }),
    ...(length !== undefined && { 'Content-Length': String(length) }),
  };
  response.writeHead(status, STATUS_REASONS[status] ?? '', Object.entries(all).flat());
  return response;
}

/** RFC 9110 section 12.5.3; a weight of zero means "not acceptable". */
function acceptsGzip({ request }: AdminExchange): boolean {
  return /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i.test(
    request.header('accept-encoding') ?? '',
  );
}

/** Returns a stream that writes to a response, as fast as its client reads. */
function writableOf({ connection, response }: AdminExchange): Writable {
  const writable = new Writable({
    write(bytes: Buffer, _encoding, done) {
      response.write(bytes);
      if (connection.socket.writableNeedDrain) response.pausedSource = { resume: done };
      else done();
    },
  });
  response.owner = { onResponseOver: () => void writable.destroy() };
  return writable.on('finish', () => response.end());
}

const SLICE_LENGTH = 65_536;
/** The most large responses that are written at the same time. */
const MAX_RESPONSES = 8;
/** A client that needs longer for a slice may be disconnected to make room for another response. */
const SLOW_CLIENT_MS = 500;
/** A client that needs longer for a slice is disconnected. */
const STALLED_CLIENT_MS = 10_000;

interface ResponseInProgress {
  readonly response: HttpResponse;
  /** When the gateway began to write the current slice; `undefined` while it prepares the next one. */
  offeredAt: number | undefined;
}

/** Writes responses of the admin API, compressed if the client accepts that; large ones in slices, as fast as the client reads. */
export function createResponseWriter(cpuBudget: CpuBudget, metrics: AdminMetrics) {
  const inProgress = new Set<ResponseInProgress>();
  return { send };

  async function send(exchange: AdminExchange, content: AdminResponse): Promise<void> {
    const { connection, request, response } = exchange;
    if (response.isOver) return;
    const { body } = content;
    if (typeof body === 'string' || Buffer.isBuffer(body)) return sendBuffered(exchange, content, Buffer.from(body));
    if (request.method === 'HEAD') return writeHead(exchange, content).end();
    if (typeof body === 'function') {
      // The client of a stream that closes its side has left.
      if (connection.isHalfClosed) return response.destroy();
      connection.socket.once('end', () => response.destroy());
      return body(writeHead(exchange, content));
    }
    if (!makeRoom()) {
      const path = request.url.split('?', 1)[0] ?? '';
      const detail = 'too many large responses are being sent; send the request again later';
      return send(exchange, busyResponse(metrics, path, detail));
    }
    const isCompressed = acceptsGzip(exchange);
    writeHead(exchange, content, isCompressed);
    return write(exchange, body, isCompressed);
  }

  /** Makes room for one more response, if necessary by disconnecting the slowest client. Returns false if no client is slow. */
  function makeRoom(): boolean {
    if (inProgress.size < MAX_RESPONSES) return true;
    const now = performance.now();
    let slowest: ResponseInProgress | undefined;
    for (const writing of inProgress)
      if ((writing.offeredAt ?? now) < (slowest?.offeredAt ?? now - SLOW_CLIENT_MS)) slowest = writing;
    slowest?.response.destroy();
    return slowest !== undefined && inProgress.delete(slowest);
  }

  /** Resolves when the response has ended or failed. */
  async function write(exchange: AdminExchange, chunks: Iterable<string>, isCompressed: boolean): Promise<void> {
    const writing: ResponseInProgress = { response: exchange.response, offeredAt: undefined };
    inProgress.add(writing);
    const slices = Readable.from(slicesOf(chunks, writing), { objectMode: true, highWaterMark: 1 });
    const compression = isCompressed ? [loadZlib().createGzip(FASTEST)] : [];
    try {
      await pipeline([slices, ...compression, writableOf(exchange)]);
    } catch (error) {
      // Destroy the connection, so that the client does not take half a response for a complete one. A disconnected
      // client is not an error.
      if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE')
        metrics.failed.add({ reason: (error as Error).message });
      writing.response.destroy();
    } finally {
      inProgress.delete(writing);
    }
  }

  async function* slicesOf(chunks: Iterable<string>, writing: ResponseInProgress): AsyncGenerator<Buffer> {
    const iterator = chunks[Symbol.iterator]();
    for (;;) {
      const { text, isLast } = await cpuBudget.run(() => sliceOf(iterator));
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
