/** The first line and the headers of a message. */
export interface StrictHead {
  readonly line: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** A message with exactly one valid interpretation (RFC 9112). */
export interface StrictMessage extends StrictHead {
  readonly body: Buffer;
  readonly trailers: StrictHead['headers'];
  /** The size of the message in bytes. */
  readonly size: number;
}

/** The complete message, or its head if that has arrived. */
export type ReadResult =
  | { readonly message: StrictMessage }
  | { readonly message?: undefined; readonly head: StrictHead | undefined };

/** Thrown for bytes that are not a message or have more than one interpretation. */
export class UnreadableError extends Error {}

export interface StrictOptions {
  /** The required form of the first line. */
  readonly line: RegExp;
  /** Returns true if a message with this first line can have a body. Default: every message can. */
  readonly hasBody?: (line: string) => boolean;
  /** The meaning of a message without framing: a request has no body, a response lasts until the connection closes. */
  readonly unframed: 'no body' | 'until the end';
  /** True if no more bytes will follow. */
  readonly isClosed?: boolean;
}

export const REQUEST_LINE = /^[A-Z-]+ (?:\/[!"$-~]*|\*|(?:https?|HTTPS?):\/\/[!"$-~]+) HTTP\/1\.[01]$/;
export const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d [\t\x20-\x7e\x80-\xff]*$/;
const FIELD =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[\t ]*$/;

/**
 * Parses one message and rejects every deviation: a bare CR or LF, an extra space, a repeated length.
 * Shares no code with the gateway's parser or the parser of the other tests, so that no bug is in two of them.
 *
 * @throws Unreadable
 */
export function readStrictly(bytes: Buffer, options: StrictOptions): ReadResult {
  const { line: firstLine, hasBody = () => true, unframed, isClosed = false } = options;
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return { head: undefined };
  const [line = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  if (!firstLine.test(line)) throw new UnreadableError(`invalid first line: ${JSON.stringify(line)}`);
  const head = { line, headers: fields.map(readField) };
  const start = end + 4;
  const complete = (body: Buffer, size: number, trailers: StrictHead['headers'] = []): ReadResult => ({
    message: { ...head, body, trailers, size },
  });
  if (!hasBody(line)) return complete(Buffer.alloc(0), start);
  const lengths = strictValues(head, 'content-length');
  const encodings = strictValues(head, 'transfer-encoding');
  if (lengths.length + encodings.length > 1) throw new UnreadableError(`framed more than once: ${fields.join(' | ')}`);
  if (encodings.length === 1) {
    if (encodings[0] !== 'chunked') throw new UnreadableError(`transfer encoding ${encodings[0]}`);
    const chunks = readChunks(bytes, start);
    return chunks === undefined ? { head } : complete(chunks.body, chunks.end, chunks.trailers);
  }
  if (lengths.length === 1) {
    if (!/^\d{1,15}$/.test(lengths[0] ?? '')) throw new UnreadableError(`content length ${lengths[0]}`);
    const stop = start + Number(lengths[0]);
    return bytes.length < stop ? { head } : complete(bytes.subarray(start, stop), stop);
  }
  if (unframed === 'no body') return complete(Buffer.alloc(0), start);
  return isClosed ? complete(bytes.subarray(start), bytes.length) : { head };
}

/** Returns all values of a header, in order. */
export function strictValues(head: StrictHead, name: string): string[] {
  return head.headers.filter(([fieldName]) => fieldName.toLowerCase() === name).map(([, value]) => value);
}

function readField(text: string): [string, string] {
  const [, name, value] = FIELD.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UnreadableError(`invalid header line: ${JSON.stringify(text)}`);
  return [name, value];
}

interface Chunks {
  readonly body: Buffer;
  readonly end: number;
  readonly trailers: StrictHead['headers'];
}

function readChunks(bytes: Buffer, start: number): Chunks | undefined {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const line = bytes.subarray(at, lineEnd).toString('latin1');
    if (!/^[0-9A-Fa-f]{1,12}$/.test(line)) throw new UnreadableError(`chunk size ${JSON.stringify(line)}`);
    at = lineEnd + 2;
    const size = Number.parseInt(line, 16);
    if (size === 0) break;
    if (bytes.length < at + size + 2) return undefined;
    parts.push(bytes.subarray(at, at + size));
    at += size;
    if (bytes.subarray(at, at + 2).toString() !== '\r\n')
      throw new UnreadableError('a chunk without CR LF after its data');
    at += 2;
  }
  const trailers: [string, string][] = [];
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd === -1) return undefined;
    const line = bytes.subarray(at, lineEnd).toString('latin1');
    at = lineEnd + 2;
    if (line === '') return { body: Buffer.concat(parts), end: at, trailers };
    trailers.push(readField(line));
  }
}
