import { randomBytes } from 'node:crypto';

const CLOSE = 8;
/**
 * Why a WebSocket is closed (RFC 6455 section 7.4.1, 1012 of the registry that it made): the gateway goes away, who may
 * connect is not what it was, or the route.
 */
export const CLOSE_CODES = { going_away: 1001, access_changed: 1008, route_changed: 1012 } as const;
export type CloseReason = keyof typeof CLOSE_CODES;

/** Follows the frames of one direction of a WebSocket (RFC 6455 section 5.2), to know where one may be put between them. */
export class Frames {
  /** Of the header that is being read: two bytes, and up to twelve more. */
  readonly #head = Buffer.alloc(14);
  #headBytes = 0;
  /** Of the payload that is still to come. */
  #left = 0;
  #hasClosed = false;

  /** The last frame is whole. */
  get isBetween(): boolean {
    return this.#headBytes === 0 && this.#left === 0;
  }

  /** One of the frames said that no more follow. */
  get hasClosed(): boolean {
    return this.#hasClosed;
  }

  /**
   * Reads on.
   *
   * @param isLast no further than to the end of the frame that has begun
   * @returns how many bytes were read
   */
  read(piece: Buffer, isLast: boolean): number {
    let at = 0;
    while (at < piece.length && !(isLast && this.isBetween)) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, piece.length - at);
        this.#left -= step;
        at += step;
      } else {
        this.#head[this.#headBytes] = piece[at] as number;
        this.#headBytes += 1;
        at += 1;
        this.#endHead();
      }
    }
    return at;
  }

  /** Once the header is whole, the payload begins. */
  #endHead(): void {
    const head = this.#head;
    if (this.#headBytes < 2) return;
    const [first, second] = head as unknown as [number, number];
    const length = second & 0x7f;
    const lengthBytes = length === 127 ? 8 : length === 126 ? 2 : 0;
    const maskBytes = second & 0x80 ? 4 : 0;
    if (this.#headBytes < 2 + lengthBytes + maskBytes) return;
    this.#headBytes = 0;
    this.#left = lengthBytes === 0 ? length : head.readUIntBE(lengthBytes === 8 ? 4 : 2, lengthBytes === 8 ? 6 : 2);
    if ((first & 0x0f) === CLOSE) this.#hasClosed = true;
  }
}

/** What says why no more frames follow; masked to a server (section 5.3). */
export function closeFrame(isMasked: boolean, reason: CloseReason): Buffer {
  const number = CLOSE_CODES[reason];
  const code = Buffer.from([number >> 8, number & 0xff]);
  if (!isMasked) return Buffer.concat([Buffer.from([0x80 | CLOSE, code.length]), code]);
  const mask = randomBytes(4);
  const masked = code.map((byte, index) => byte ^ (mask[index] as number));
  return Buffer.concat([Buffer.from([0x80 | CLOSE, 0x80 | code.length]), mask, masked]);
}
