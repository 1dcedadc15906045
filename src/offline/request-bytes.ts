/** A request as a client would send it. */
export interface OfflineRequest {
  readonly method: string;
  /** What stands in the request line, to the letter. */
  readonly target: string;
  /** Names and values in turn, sent as they are. What a request cannot be without is added. */
  readonly headers: readonly string[];
  readonly body: Buffer | undefined;
}

const URL_FORM = /^https?:\/\/([^/?#]*)(.*)$/i;

/** The request for a URL, or for what stands in a request line. */
export function createOfflineRequest(
  method: string,
  url: string,
  headers: readonly string[],
  body: Buffer | undefined,
): OfflineRequest {
  const [, host, rest = ''] = URL_FORM.exec(url) ?? [];
  if (host === undefined) return { method, target: url, headers, body };
  const isNamed = headerValue(headers, 'host') !== undefined;
  // As a client cuts a URL up, and nothing more: what it would tidy is to be seen.
  const target = rest.startsWith('/') ? rest : `/${rest}`;
  return { method, target, headers: isNamed ? headers : ['Host', host, ...headers], body };
}

export interface RequestBytes {
  readonly chunks: readonly Buffer[];
  /** False when the headers say that more comes. */
  readonly isComplete: boolean;
}

/**
 * The bytes of a request (RFC 9112 section 2.1). A body is framed as the headers say, or by its length; where they say that it
 * is longer than it is, blanks follow it, up to a limit.
 */
export function requestBytes({ method, target, headers, body = EMPTY }: OfflineRequest): RequestBytes {
  const length = headerValue(headers, 'content-length');
  const coding = headerValue(headers, 'transfer-encoding');
  const isFramed = length !== undefined || coding !== undefined || body.length === 0;
  const all = [
    ...(headerValue(headers, 'host') === undefined ? ['Host', DEFAULT_HOST] : []),
    ...headers,
    ...(isFramed ? [] : ['Content-Length', String(body.length)]),
  ];
  const lines = all.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`);
  if (coding?.toLowerCase() === 'chunked') return { chunks: [head, ...encodeChunked(body)], isComplete: true };
  const missing = Math.max(0, Number(length ?? 0) - body.length) || 0;
  const blanks = Buffer.alloc(Math.min(missing, MAX_PADDING_BYTES), ' ');
  return { chunks: [head, body, blanks], isComplete: missing === blanks.length };
}

/** Where nobody says by which name the gateway is reached. */
const DEFAULT_HOST = 'localhost';
const EMPTY = Buffer.alloc(0);
const MAX_PADDING_BYTES = 67_108_864;

function encodeChunked(body: Buffer): Buffer[] {
  const end = Buffer.from('0\r\n\r\n');
  if (body.length === 0) return [end];
  return [Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n'), end];
}

/** The value of the first header of this name, which is in lower case. */
export function headerValue(headers: readonly string[], name: string): string | undefined {
  const index = headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name);
  return index === -1 ? undefined : headers[index + 1];
}
