/** Follows the frames of one way of a WebSocket (RFC 6455 section 5.2), to know where one ends and another may begin. */
export class WebSocketFrameTracker {
  /** Of a frame's head that has not come whole. */
  readonly #head: number[] = [];
  /** Bytes of a frame's payload that have not come. */
  #left = 0;

  /** Whether the last frame came whole. */
  get isAtFrameBoundary(): boolean {
    return this.#left === 0 && this.#head.length === 0;
  }

  /** Another one that stands where this one stands. */
  clone(): WebSocketFrameTracker {
    const other = new WebSocketFrameTracker();
    other.#head.push(...this.#head);
    other.#left = this.#left;
    return other;
  }

  /** Takes all bytes in. */
  consume(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at = this.#skipShort(bytes, at) ?? this.#step(bytes, at);
  }

  /** Takes bytes in up to the end of the frame that has begun; answers how many. */
  consumeFrame(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && !this.isAtFrameBoundary) at = this.#step(bytes, at);
    return at;
  }

  /** Takes the head of a short unmasked frame at once: an upstream may send a million frames in one read. */
  #skipShort(bytes: Buffer, at: number): number | undefined {
    const second = bytes[at + 1];
    if (second === undefined || second >= LENGTH_16 || !this.isAtFrameBoundary) return undefined;
    this.#left = second;
    return at + 2;
  }

  #step(bytes: Buffer, at: number): number {
    if (this.#left > 0) {
      const taken = Math.min(this.#left, bytes.length - at);
      this.#left -= taken;
      return at + taken;
    }
    this.#head.push(bytes[at] ?? 0);
    if (this.#head.length === headBytes(this.#head)) {
      this.#left = payloadBytes(this.#head);
      this.#head.length = 0;
    }
    return at + 1;
  }
}

/** A server's close frame (RFC 6455 section 5.5.1), which is not masked. */
export function closeFrame(code: number, reason: string): Buffer {
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);
  return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
}

const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** How long a frame's head is; known from its second byte on. */
function headBytes([, second]: readonly number[]): number | undefined {
  if (second === undefined) return undefined;
  const length = second & 0x7f;
  const mask = second & 0x80 ? 4 : 0;
  return 2 + (length === LENGTH_16 ? 2 : length === LENGTH_64 ? 8 : 0) + mask;
}

function payloadBytes([, second = 0, ...more]: readonly number[]): number {
  const length = second & 0x7f;
  if (length < LENGTH_16) return length;
  return more.slice(0, length === LENGTH_16 ? 2 : 8).reduce((sum, byte) => sum * 256 + byte, 0);
}
