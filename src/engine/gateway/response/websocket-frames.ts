const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** Tracks the frames in one direction of a WebSocket (RFC 6455 section 5.2), to find where a frame ends. */
export class WebSocketFrameTracker {
  /** The first bytes of an incomplete frame head. */
  readonly #head: number[] = [];
  /** Bytes of this frame's payload still to come. */
  #remaining = 0;

  /** True if the latest frame is complete. */
  get isAtFrameBoundary(): boolean {
    return this.#remaining === 0 && this.#head.length === 0;
  }

  /** Returns a tracker at the same position. */
  clone(): WebSocketFrameTracker {
    const other = new WebSocketFrameTracker();
    other.#head.push(...this.#head);
    other.#remaining = this.#remaining;
    return other;
  }

  consume(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at = this.#skipShortHead(bytes, at) ?? this.#step(bytes, at);
  }

  /** Consumes bytes up to the end of the current frame. Returns how many. */
  consumeFrame(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && !this.isAtFrameBoundary) at = this.#step(bytes, at);
    return at;
  }

  /** Skips the head of a short unmasked frame in one step: an upstream may send a million frames in one read. */
  #skipShortHead(bytes: Buffer, at: number): number | undefined {
    const second = bytes[at + 1];
    if (second === undefined || second >= LENGTH_16 || !this.isAtFrameBoundary) return undefined;
    this.#remaining = second;
    return at + 2;
  }

  #step(bytes: Buffer, at: number): number {
    if (this.#remaining > 0) {
      const consumed = Math.min(this.#remaining, bytes.length - at);
      this.#remaining -= consumed;
      return at + consumed;
    }
    this.#head.push(bytes[at] ?? 0);
    if (this.#head.length === headBytes(this.#head)) {
      this.#remaining = payloadBytes(this.#head);
      this.#head.length = 0;
    }
    return at + 1;
  }
}

/** Returns a server's close frame (RFC 6455 section 5.5.1), which is not masked. */
export function closeFrame(code: number, reason: string): Buffer {
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]);
  return Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
}

/** Returns the size of a frame's head; `undefined` if its second byte is missing. */
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
