import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { OfflineResponse } from './client.ts';
import { MemorySocket } from './memory-socket.ts';
import { headBytes, headerValue } from './request-bytes.ts';

/** A request as the upstream receives it. */
export interface RecordedRequest {
  /** The chosen endpoint: scheme, host and port. */
  readonly origin: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** The largest request head that the gateway can forward. */
const MAX_HEAD_BYTES = 2_097_152;

/** Creates a stub for every upstream. It records requests and sends the response exactly as given. */
export function createRecordingUpstream(response: OfflineResponse) {
  /** All received requests, in order. */
  const requests: RecordedRequest[] = [];
  const record = async (origin: string, request: IncomingMessage) => {
    const { method = '', url = '', rawHeaders: headers, socket } = request;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The gateway aborted the request.
      return;
    }
    requests.push({ origin, method, url, headers, body: Buffer.concat(chunks) });
    // `node:http` cannot write a malformed response, and after a truncated one the connection must close.
    socket.end(responseBytes(response, method));
  };
  return {
    requests,
    /** Opens a connection that stands for one to the endpoint of this origin. */
    connect(origin: string): Duplex {
      const options = { requireHostHeader: false, maxHeaderSize: MAX_HEAD_BYTES };
      const server = createServer(options, (request) => void record(origin, request));
      server.maxHeadersCount = 0;
      const [client, serverSide] = MemorySocket.pair();
      server.emit('connection', serverSide);
      return client;
    },
  };
}

/** Statuses without a body (RFC 9110 section 6.4.1). */
const BODILESS = new Set([204, 304]);

function responseBytes({ status, headers, body }: OfflineResponse, method: string): Buffer {
  const isFramed = ['content-length', 'transfer-encoding'].some((name) => headerValue(headers, name) !== undefined);
  const length = isFramed || BODILESS.has(status) ? [] : ['Content-Length', String(body.length)];
  const head = headBytes(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, [...headers, ...length]);
  return method === 'HEAD' ? head : Buffer.concat([head, body]);
}
