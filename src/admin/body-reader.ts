import type { IncomingMessage } from 'node:http';
import { type AdminResponse, problemDetails } from './admin-endpoint.ts';

const MAX_BODY_BYTES = 1024 ** 2;
/** The limit for all bodies that are being read at one time. */
const MAX_HELD_BYTES = 8 * 1024 ** 2;

/** Reads request bodies, within a limit for each and one for all that are being read. */
export class AdminBodyReader {
  #heldBytes = 0;

  async read(request: IncomingMessage): Promise<Buffer | AdminResponse> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const piece of request as AsyncIterable<Buffer>) {
        bytes += piece.length;
        this.#heldBytes += piece.length;
        if (bytes > MAX_BODY_BYTES) return problemDetails(413, `a body has no more than ${MAX_BODY_BYTES} bytes here`);
        if (this.#heldBytes > MAX_HELD_BYTES)
          return problemDetails(503, 'too many bodies are being read', { 'Retry-After': '1' });
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    } finally {
      this.#heldBytes -= bytes;
    }
  }
}
