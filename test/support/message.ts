/** An HTTP/1.1 message as received. */
export interface Message {
  /** The first line, without its line break. */
  readonly line: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body without its framing. */
  readonly body: Buffer;
  readonly trailers: readonly (readonly [name: string, value: string])[];
  /** False if the connection ended in the middle of the message. */
  readonly isComplete: boolean;
  /** The size of the message in the input, in bytes. */
  readonly size: number;
}

export interface ReadOptions {
  /** Returns true if a message with this first line can have a body. Default: every message can. */
  readonly hasBody?: (line: string) => boolean;
  /** True if no more bytes will follow. A body without framing then ends here. */
  readonly isClosed?: boolean;
  /** True for requests, which have no body without framing. */
  readonly isRequest?: boolean;
}

/** Parses the first message strictly: no bare LF, one framing. Returns `undefined` if more bytes are needed. */
export function readMessage(bytes: Buffer, options: ReadOptions = {}): Message | undefined {
  const { hasBody = () => true, isClosed = false, isRequest = false } = options;
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return undefined;
  const [line = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = fields.map(readField);
  const start = end + 4;
  const result = (body: Buffer, size: number, isComplete = true, trailers: Message['trailers'] = []): Message => ({
    line,
    headers,
    body,
    trailers,
    isComplete,
    size,
  });
  if (!hasBody(line)) return result(Buffer.alloc(0), start);
  const lengths = valuesOf(headers, 'content-length');
  const encodings = valuesOf(headers, 'transfer-encoding');
  if (lengths.length + encodings.length > 1)
    throw new Error(`the message is framed more than once: ${fields.join(' | ')}`);
  if (encodings.length === 1) {
    const chunked = readChunks(bytes, start);
    if (chunked.end !== undefined) return result(chunked.body, chunked.end, true, chunked.trailers);
    return isClosed ? result(chunked.body, bytes.length, false) : undefined;
  }
  if (lengths.length === 1) {
    const length = Number(lengths[0]);
    if (bytes.length >= start + length) return result(bytes.subarray(start, start + length), start + length);
    return isClosed ? result(bytes.subarray(start), bytes.length, false) : undefined;
  }
  if (isRequest) return result(Buffer.alloc(0), start);
  return isClosed ? result(bytes.subarray(start), bytes.length) : undefined;
}

/** Parses all requests in these bytes. Throws if other bytes are left over. */
export function readRequests(bytes: Buffer): Message[] {
  const messages: Message[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const message = readMessage(rest, { isRequest: true });
    if (message === undefined) throw new Error(`not a complete request: ${rest.toString('latin1').slice(0, 200)}`);
    messages.push(message);
    rest = rest.subarray(message.size);
  }
  return messages;
}

export function valuesOf(headers: Message['headers'], name: string): string[] {
  return headers.filter(([fieldName]) => fieldName.toLowerCase() === name.toLowerCase()).map(([, value]) => value);
}

function readField(text: string): [string, string] {
  const colon = text.indexOf(':');
  return [text.slice(0, colon), text.slice(colon + 1).trim()];
}

function readChunks(bytes: Buffer, start: number): { body: Buffer; end?: number; trailers?: Message['trailers'] } {
  const chunks: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return { body: Buffer.concat(chunks) };
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    if (Number.isNaN(size)) throw new Error('a chunk without a size');
    at = lineEnd + 2;
    if (size === 0) break;
    chunks.push(bytes.subarray(at, Math.min(at + size, bytes.length)));
    if (bytes.length < at + size + 2) return { body: Buffer.concat(chunks) };
    at += size + 2;
  }
  const fields: [string, string][] = [];
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return { body: Buffer.concat(chunks) };
    const line = bytes.subarray(at, lineEnd).toString('latin1');
    at = lineEnd + 2;
    if (line === '') return { body: Buffer.concat(chunks), end: at, trailers: fields };
    fields.push(readField(line));
  }
}
