/** A request as a client sends it. */
export interface OfflineRequest {
  readonly method: string;
  /** The request target, sent unchanged. */
  readonly target: string;
  /** Alternating names and values, sent unchanged. A missing `Host` or `Content-Length` is added. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
  /** The address of the client; default: 127.0.0.1. */
  readonly peer?: string | undefined;
}

const URL_FORM = /^https?:\/\/([^/?#]*)(.*)$/i;

/** Creates a request from an absolute URL or a request target. */
export function createOfflineRequest(
  method: string,
  url: string,
  headers: readonly string[],
  body: Buffer | undefined,
): OfflineRequest {
  const [, host, rest = ''] = URL_FORM.exec(url) ?? [];
  if (host === undefined) return { method, target: url, headers, body };
  const hasHost = headerValue(headers, 'host') !== undefined;
  // Splits the URL without normalizing it, since the gateway must see the path as written.
  const target = rest.startsWith('/') ? rest : `/${rest}`;
  return { method, target, headers: hasHost ? headers : ['Host', host, ...headers], body };
}

/**
 * Returns the bytes of a request (RFC 9112 section 2.1). The headers decide the framing of the body; without framing
 * headers a `Content-Length` is added. A body that is shorter than its `Content-Length` is padded with spaces, up to a limit.
 *
 * @returns `isComplete` is false if the headers announce more bytes than the chunks have
 */
export function requestBytes({ method, target, headers, body = EMPTY }: OfflineRequest) {
  const length = headerValue(headers, 'content-length');
  const coding = headerValue(headers, 'transfer-encoding');
  const isFramed = length !== undefined || coding !== undefined || body.length === 0;
  const all = [
    ...(headerValue(headers, 'host') === undefined ? ['Host', DEFAULT_HOST] : []),
    ...headers,
    ...(isFramed ? [] : ['Content-Length', String(body.length)]),
  ];
  const head = headBytes(`${method} ${target} HTTP/1.1`, all);
  if (coding?.toLowerCase() === 'chunked') return { chunks: [head, ...encodeChunked(body)], isComplete: true };
  const missing = Math.max(0, Number(length ?? 0) - body.length) || 0;
  const padding = Buffer.alloc(Math.min(missing, MAX_PADDING_BYTES), ' ');
  return { chunks: [head, body, padding], isComplete: missing === padding.length };
}

/** The host of a request that names none. */
const DEFAULT_HOST = 'localhost';
const EMPTY = Buffer.alloc(0);
const MAX_PADDING_BYTES = 67_108_864;

function encodeChunked(body: Buffer): Buffer[] {
  const end = Buffer.from('0\r\n\r\n');
  if (body.length === 0) return [end];
  return [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n'), end];
}

/** Returns the bytes of the start line and the headers of a message. */
export function headBytes(startLine: string, headers: readonly string[]): Buffer {
  const lines = headers.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return Buffer.from(`${startLine}\r\n${lines.join('')}\r\n`);
}

/** Returns the value of the first header with this name. @param name in lower case */
export function headerValue(headers: readonly string[], name: string): string | undefined {
  const index = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return index === -1 ? undefined : headers[index + 1];
}

/** The headers of a WebSocket handshake (RFC 6455 section 4.1). */
export const HANDSHAKE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
