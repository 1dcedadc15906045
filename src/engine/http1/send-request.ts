import type { Duplex } from 'node:stream';
import { FIELD_LINES } from './grammar.ts';
import { CONTENT_METHODS } from './http-methods.ts';
import { Http1Error } from './http1-error.ts';
import { serializeHeaders } from './raw-headers.ts';
import { Upload, type UploadListener } from './upload.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** Matches exactly one head, with nothing after it. */
const HEAD = new RegExp(`^[A-Z]+ [!-~]+ HTTP/1\\.1\\r\\n${FIELD_LINES}\\r\\n$`);
/** The largest body that goes into the same write as the head. */
const SMALL_BYTES = 16_384;

/**
 * Writes a request. Returns the upload of a streamed body; `undefined` if the request is completely written.
 *
 * @throws Http1Error `request_malformed`
 */
export function sendRequest(socket: Duplex, request: UpstreamRequest, listener: UploadListener): Upload | undefined {
  const head = formatRequestHead(request);
  const { body, length = 0 } = request;
  if (body !== null && !Buffer.isBuffer(body)) {
    const upload = new Upload(socket, head, body, length, listener);
    upload.start();
    return upload;
  }
  if (body === null) socket.write(head, 'latin1');
  else if (body.length <= SMALL_BYTES) socket.write(head + body.toString('latin1'), 'latin1');
  else {
    socket.cork();
    socket.write(head, 'latin1');
    socket.write(body);
    socket.uncork();
  }
  return undefined;
}

/**
 * Returns the head of a request as latin-1 (RFC 9112 section 3). It checks the complete head, so no value from a client can add a
 * second request.
 *
 * @throws Http1Error `request_malformed`
 */
function formatRequestHead({ method, path, headers, isHandshake, length }: UpstreamRequest): string {
  let text = `${method} ${path} HTTP/1.1\r\n${serializeHeaders(headers)}`;
  text += isHandshake ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : 'Connection: keep-alive\r\n';
  if (length === 'chunked') text += 'Transfer-Encoding: chunked\r\n';
  // RFC 9110 section 8.6: without a body, such a request has `Content-Length: 0`.
  else if (length !== undefined || CONTENT_METHODS.has(method)) text += `Content-Length: ${length ?? 0}\r\n`;
  text += '\r\n';
  if (!HEAD.test(text)) throw new Http1Error('request_malformed');
  return text;
}
