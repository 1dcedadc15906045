import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { MemorySocket } from './memory-socket.ts';

/** A request as an upstream got it. */
export interface Received {
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
export interface UpstreamAnswer {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface RecordingUpstream {
  /** Every request that came, in order. */
  readonly received: readonly Received[];
  /** A connection to it, as that to a target of this origin. */
  connect(origin: string): Duplex;
}

/** As large as a head that the gateway lets through may have become. */
const HEAD_BYTES = 2_097_152;

/** Stands in for every upstream: keeps what it got, and answers what it was given. Reads strictly, as Node does. */
export function createRecordingUpstream(answer: UpstreamAnswer): RecordingUpstream {
  const received: Received[] = [];
  const record = async (origin: string, request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', rawHeaders: headers } = request;
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The gateway has given the request up.
      return;
    }
    received.push({ origin, method, url, headers, body: Buffer.concat(chunks) });
    response.sendDate = false;
    response.writeHead(answer.status, answer.headers as string[]);
    response.end(answer.body);
  };
  return {
    received,
    connect(origin) {
      const server = createServer({ requireHostHeader: false, maxHeaderSize: HEAD_BYTES }, (request, response) => {
        void record(origin, request, response);
      });
      server.maxHeadersCount = 0;
      const [near, far] = MemorySocket.pair();
      server.emit('connection', far);
      return near;
    },
  };
}
