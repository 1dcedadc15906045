import { CONTENT_METHODS } from '../http-methods.ts';
import { FIELD_LINES } from './grammar.ts';
import { Http1Error } from './http1-error.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** Exactly one head, and nothing behind it. */
const HEAD = new RegExp(`^[A-Z]+ [!-~]+ HTTP/1\\.1\\r\\n${FIELD_LINES}\\r\\n$`);

/**
 * Writes the head of a request (RFC 9112 section 3), as latin-1.
 *
 * @throws WireError `request_malformed`: whatever made its parts, no more than one request ever goes out
 */
export function formatRequestHead({ method, path, headers, isHandshake, length }: UpstreamRequest): string {
  let text = `${method} ${path} HTTP/1.1\r\n`;
  for (let index = 0; index < headers.length; index += 2) text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  text += isHandshake ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : 'Connection: keep-alive\r\n';
  if (length === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  else if (length !== undefined || CONTENT_METHODS.has(method)) text += `Content-Length: ${length ?? 0}\r\n`;
  text += '\r\n';
  if (!HEAD.test(text)) throw new Http1Error('request_malformed');
  return text;
}
