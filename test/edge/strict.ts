/** The first line and the headers of a message. */
export interface StrictHead {
  readonly line: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** A message that has exactly one reading (RFC 9112). */
export interface StrictMessage extends StrictHead {
  readonly body: Buffer;
  readonly trailers: StrictHead['headers'];
  /** How many bytes it took. */
  readonly size: number;
}

/** Either the whole message, or as much of it as is there. */
export type Reading =
  | { readonly message: StrictMessage }
  | { readonly message?: undefined; readonly head: StrictHead | undefined };

/** Bytes that are no message, or more than one. */
export class Unreadable extends Error {}

export interface StrictOptions {
  /** What the first line must be. */
  readonly line: RegExp;
  /** Whether a message with this first line has a body at all. */
  readonly hasBody?: (line: string) => boolean;
  /** What a message without framing is: a request has no body, an answer goes on until the connection closes. */
  readonly unframed: 'no body' | 'until the end';
  /** No more bytes will come. */
  readonly isClosed?: boolean;
}

export const REQUEST_LINE = /^[A-Z-]+ (?:\/[!"$-~]*|\*|(?:https?|HTTPS?):\/\/[!"$-~]+) HTTP\/1\.[01]$/;
export const STATUS_LINE = /^HTTP\/1\.[01] [1-9]\d\d [\t\x20-\x7e\x80-\xff]*$/;
const FIELD =
  /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*((?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[\t ]*$/;

/**
 * Reads one message and forgives nothing: a bare CR or LF, a blank too many, a length that is stated twice.
 * Written apart from the gateway's parser and from the other tests', so that no two share a mistake.
 *
 * @throws Unreadable
 */
export function readStrictly(bytes: Buffer, options: StrictOptions): Reading {
  const { line: firstLine, hasBody = () => true, unframed, isClosed = false } = options;
  const end = bytes.indexOf('\r\n\r\n');
  if (end === -1) return { head: undefined };
  const [line = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  if (!firstLine.test(line)) throw new Unreadable(`no first line: ${JSON.stringify(line)}`);
  const head = { line, headers: fields.map(readField) };
  const start = end + 4;
  const whole = (body: Buffer, size: number, trailers: StrictHead['headers'] = []): Reading => ({
    message: { ...head, body, trailers, size },
  });
  if (!hasBody(line)) return whole(Buffer.alloc(0), start);
  const lengths = strictValues(head, 'content-length');
  const encodings = strictValues(head, 'transfer-encoding');
  if (lengths.length + encodings.length > 1) throw new Unreadable(`framed more than once: ${fields.join(' | ')}`);
  if (encodings.length === 1) {
    if (encodings[0] !== 'chunked') throw new Unreadable(`transfer encoding ${encodings[0]}`);
    const chunks = readChunks(bytes, start);
    return chunks === undefined ? { head } : whole(chunks.body, chunks.end, chunks.trailers);
  }
  if (lengths.length === 1) {
    if (!/^\d{1,15}$/.test(lengths[0] ?? '')) throw new Unreadable(`content length ${lengths[0]}`);
    const stop = start + Number(lengths[0]);
    return bytes.length < stop ? { head } : whole(bytes.subarray(start, stop), stop);
  }
  if (unframed === 'no body') return whole(Buffer.alloc(0), start);
  return isClosed ? whole(bytes.subarray(start), bytes.length) : { head };
}

/** All values of a header, in order. */
export function strictValues(head: StrictHead, name: string): string[] {
  return head.headers.filter(([written]) => written.toLowerCase() === name).map(([, value]) => value);
}

function readField(text: string): [string, string] {
  const [, name, value] = FIELD.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new Unreadable(`no header: ${JSON.stringify(text)}`);
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
    if (!/^[0-9A-Fa-f]{1,12}$/.test(line)) throw new Unreadable(`chunk size ${JSON.stringify(line)}`);
    at = lineEnd + 2;
    const size = Number.parseInt(line, 16);
    if (size === 0) break;
    if (bytes.length < at + size + 2) return undefined;
    parts.push(bytes.subarray(at, at + size));
    at += size;
    if (bytes.subarray(at, at + 2).toString() !== '\r\n')
      throw new Unreadable('a chunk that does not end where it says');
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
