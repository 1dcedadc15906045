import type { IncomingMessage } from 'node:http';
import { type AdminResponse, problemDetails } from './admin-endpoint.ts';

const MAX_BODY_BYTES = 1024 ** 2;
/** The limit for all bodies that are being read at the same time. */
const MAX_BUFFERED_BYTES = 8 * 1024 ** 2;

/** Reads request bodies, with a limit for each body and a limit for all of them. */
export class AdminBodyReader {
  #bufferedBytes = 0;

  async read(request: IncomingMessage): Promise<Buffer | AdminResponse> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        this.#bufferedBytes += chunk.length;
        if (bytes > MAX_BODY_BYTES)
          return problemDetails(413, `the body is too large; send at most ${MAX_BODY_BYTES} bytes`);
        if (this.#bufferedBytes > MAX_BUFFERED_BYTES)
          return problemDetails(503, 'too many request bodies are being read; send the request again later', {
            'Retry-After': '1',
          });
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    } finally {
      this.#bufferedBytes -= bytes;
    }
  }
}
