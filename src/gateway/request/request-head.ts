import type { IncomingMessage } from 'node:http';
import { forEachHeader } from '../../raw-headers.ts';
import { Refusal } from '../response/refusal.ts';

/** RFC 3986 section 3.2.2, less what no client sends: userinfo, commas, spaces. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=-]+)(?::(\d{1,5}))?$/;
/** Most of them, passed in one look that makes nothing. */
const PLAIN_HOST = /^[A-Za-z0-9.-]+(?::\d{1,4})?$/;
const LENGTH = /^(?:0|[1-9]\d{0,15})$/;
/** Of these a second one would be read by one server and not by another. */
const SINGLE = new Set(['host', 'authorization', 'content-type', 'content-length', 'transfer-encoding']);
const TRACEPARENT = 'traceparent';
const LENGTHS: ReadonlySet<number> = new Set([...SINGLE, TRACEPARENT].map(({ length }) => length));

/** What is known of a request's head once it was found to have one reading. */
export interface RequestHead {
  readonly host: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  /** Where the request's trace came from; empty when that is said more than once. */
  readonly traceparent: string | undefined;
  /** `undefined`: no body; a number: of this many bytes; `'chunked'`: of unknown length. */
  readonly body: number | 'chunked' | undefined;
}

/**
 * Reads the headers that decide over routing, access and framing from the raw list, since Node silently
 * drops or joins repeated ones (RFC 9112 sections 3.2 and 6.3).
 *
 * @throws Refusal `message_malformed` or `headers_too_large`
 */
export function readRequestHead(request: IncomingMessage, maxHeaders: number): RequestHead {
  // Node's parser takes HTTP/0.9 and HTTP/2.0 too.
  if (request.httpVersion !== '1.1' && request.httpVersion !== '1.0') throw malformed('version');
  const raw = request.rawHeaders;
  if (raw.length > 2 * maxHeaders) throw new Refusal('headers_too_large', { reason: 'headers_too_many' });
  const found: Record<string, string> = Object.create(null);
  let traceparent: string | undefined;
  forEachHeader(raw, (written, value) => {
    // Folding the letter case of each name costs throughput.
    if (!LENGTHS.has(written.length)) return;
    const name = written.toLowerCase();
    if (name === TRACEPARENT) traceparent = traceparent === undefined ? value : '';
    if (!SINGLE.has(name)) return;
    if (name in found) throw malformed('header_repeated');
    found[name] = value;
  });
  const host = found['host'];
  if (host !== undefined) {
    if (!isValidHost(host)) throw malformed('host');
  } else if (request.httpVersion === '1.1') {
    throw malformed('host_missing');
  }
  const body = bodyFraming(found['content-length'], found['transfer-encoding'], request.httpVersion);
  return { host, authorization: found['authorization'], contentType: found['content-type'], traceparent, body };
}

/** Whether this is what a Host header may hold (RFC 9110 section 7.2). */
export function isValidHost(text: string): boolean {
  if (PLAIN_HOST.test(text)) return true;
  const port = HOST.exec(text);
  return port !== null && Number(port[1] ?? 0) <= 65_535;
}

function bodyFraming(length: string | undefined, encoding: string | undefined, version: string): RequestHead['body'] {
  if (encoding !== undefined) {
    if (length !== undefined || version !== '1.1' || encoding.toLowerCase() !== 'chunked')
      throw malformed('transfer_encoding');
    return 'chunked';
  }
  if (length === undefined) return undefined;
  if (!LENGTH.test(length)) throw malformed('content_length');
  return length === '0' ? undefined : Number(length);
}

function malformed(reason: string): Refusal {
  return new Refusal('message_malformed', { reason });
}
