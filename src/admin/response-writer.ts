import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { type AdminResponse, busyResponse } from './admin-endpoint.ts';
import type { AdminMetrics } from './admin-metrics.ts';
import type { CpuBudget } from './cpu-budget.ts';
import { LargeResponseWriter } from './large-response-writer.ts';

/** Compressing a shorter body takes longer than sending it uncompressed. */
const MIN_COMPRESSED_BYTES = 1_024;

const compress = promisify(gzip);

/** Writes responses of the admin API: compressed if the client accepts it, and in slices if they may be large. */
export class ResponseWriter {
  readonly #large: LargeResponseWriter;
  readonly #metrics: AdminMetrics;

  constructor(cpuBudget: CpuBudget, metrics: AdminMetrics) {
    this.#large = new LargeResponseWriter(cpuBudget, metrics);
    this.#metrics = metrics;
  }

  async send(response: ServerResponse, content: AdminResponse): Promise<void> {
    if (response.destroyed) return;
    const { body } = content;
    if (typeof body === 'string' || Buffer.isBuffer(body))
      return this.#sendBuffered(response, content, Buffer.from(body));
    if (response.req.method === 'HEAD') return void writeHead(response, content).end();
    if (typeof body === 'function') return body(writeHead(response, content));
    if (!this.#large.makeRoom()) {
      const path = response.req.url?.split('?', 1)[0] ?? '';
      const detail = 'too many large responses are being sent; send the request again later';
      return this.send(response, busyResponse(this.#metrics, path, detail));
    }
    const isCompressed = acceptsGzip(response);
    return this.#large.write(writeHead(response, content, isCompressed), body, isCompressed);
  }

  async #sendBuffered(response: ServerResponse, content: AdminResponse, body: Buffer): Promise<void> {
    const isCompressed = body.length >= MIN_COMPRESSED_BYTES && acceptsGzip(response);
    const bytes = isCompressed ? await compress(body, { level: constants.Z_BEST_SPEED }) : body;
    if (!response.destroyed) writeHead(response, content, isCompressed, bytes.length).end(bytes);
  }
}

function writeHead(
  response: ServerResponse,
  { status, headers }: AdminResponse,
  isCompressed = false,
  length?: number,
) {
  // Unread bytes of a refused request would corrupt the next request on this connection.
  if (!response.req.complete) response.shouldKeepAlive = false;
  return response.writeHead(status, {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding',
    ...headers,
    ...(isCompressed && { 'Content-Encoding': 'gzip' }),
    ...(length !== undefined && { 'Content-Length': length }),
  });
}

/** RFC 9110 section 12.5.3; a weight of zero means "not acceptable". */
function acceptsGzip({ req }: ServerResponse): boolean {
  return /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[^,]*)?(?:,|$)/i.test(
    String(req.headers['accept-encoding'] ?? ''),
  );
}
