import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { MemorySocket } from './memory-socket.ts';
import { headerValue } from './request-bytes.ts';

/** A request as an upstream got it. */
export interface RecordedRequest {
  /** The target that was chosen: scheme, host and port. */
  readonly origin: string;
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** What an upstream answers. */
export interface StubResponse {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface RecordingUpstream {
  /** Every request that came, in order. */
  readonly requests: readonly RecordedRequest[];
  /** A connection to it, as that to a target of this origin. */
  connect(origin: string): Duplex;
}

/** As large as a head that the gateway lets through may have become. */
const MAX_HEAD_BYTES = 2_097_152;

/** Stands in for every upstream: keeps what it got, and answers what it was given, to the letter. */
export function createRecordingUpstream(answer: StubResponse): RecordingUpstream {
  const requests: RecordedRequest[] = [];
  const record = async (origin: string, request: IncomingMessage) => {
    const { method = '', url = '', rawHeaders: headers, socket } = request;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The gateway has given the request up.
      return;
    }
    requests.push({ origin, method, url, headers, body: Buffer.concat(chunks) });
    // The library would not write what is no answer; and an answer that is shorter than it says ends here.
    socket.end(responseBytes(answer, method));
  };
  return {
    requests,
    connect(origin) {
      const options = { requireHostHeader: false, maxHeaderSize: MAX_HEAD_BYTES };
      const server = createServer(options, (request) => void record(origin, request));
      server.maxHeadersCount = 0;
      const [near, far] = MemorySocket.pair();
      server.emit('connection', far);
      return near;
    },
  };
}

/** RFC 9110 section 6.4.1. */
const BODILESS = new Set([204, 304]);

function responseBytes({ status, headers, body }: StubResponse, method: string): Buffer {
  const isFramed = ['content-length', 'transfer-encoding'].some((name) => headerValue(headers, name) !== undefined);
  const length = isFramed || BODILESS.has(status) ? [] : ['Content-Length', String(body.length)];
  const lines = [...headers, ...length].map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  const head = Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`);
  return method === 'HEAD' ? head : Buffer.concat([head, body]);
}
