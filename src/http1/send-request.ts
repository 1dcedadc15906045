import type { Duplex } from 'node:stream';
import { formatRequestHead } from './request-head.ts';
import { Upload, type UploadListener } from './upload.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** A body up to this leaves in one write with the head. */
const SMALL_BYTES = 16_384;

/**
 * Writes a request. What is returned sends the body as it comes; `undefined`: all of it is written.
 *
 * @throws WireError `request_malformed`
 */
export function sendRequest(socket: Duplex, call: UpstreamRequest, user: UploadListener): Upload | undefined {
  const head = formatRequestHead(call);
  const { body, length = 0 } = call;
  if (body !== null && !Buffer.isBuffer(body)) return new Upload(socket, head, body, length, user);
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
