import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { readStrictly, type StrictHead, type StrictMessage, UnreadableError } from './strict.ts';

/** A gateway sends only requests for a path, in HTTP/1.1. */
const UPSTREAM_LINE = /^[A-Z-]+ \/[!"$-~]* HTTP\/1\.1$/;

/** An upstream that accounts for every byte it receives. */
export interface Recorder {
  readonly url: string;
  /** The complete requests. */
  readonly requests: StrictMessage[];
  /** The heads of requests whose connection closed before the end of their body. */
  readonly abortedRequests: StrictHead[];
  /** Descriptions of bytes that are not part of a request. */
  readonly errors: string[];
  /** Returns the number of connections with an incomplete request. */
  countPending(): number;
  close(): Promise<void>;
}

/** Starts an upstream that parses strictly, records everything, and responds with the request target. */
export async function startRecorder(): Promise<Recorder> {
  const sockets = new Set<Socket>();
  const incomplete = new Map<Socket, Buffer>();
  const requests: StrictMessage[] = [];
  const abortedRequests: StrictHead[] = [];
  const errors: string[] = [];

  const handleChunk = (socket: Socket, chunk: Buffer) => {
    let rest = Buffer.concat([incomplete.get(socket) ?? Buffer.alloc(0), chunk]);
    while (rest.length > 0) {
      const { message } = read(rest);
      if (message === undefined) break;
      requests.push(message);
      socket.write(responseTo(message));
      rest = rest.subarray(message.size);
    }
    if (rest.length > 0) incomplete.set(socket, rest);
    else incomplete.delete(socket);
  };
  const recordError = (error: unknown, bytes: Buffer) => {
    if (!(error instanceof UnreadableError)) throw error;
    errors.push(`${error.message} in ${JSON.stringify(bytes.toString('latin1').slice(0, 300))}`);
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      try {
        handleChunk(socket, chunk);
      } catch (error) {
        recordError(error, chunk);
        incomplete.delete(socket);
        socket.destroy();
      }
    });
    socket.on('close', () => {
      sockets.delete(socket);
      const rest = incomplete.get(socket);
      incomplete.delete(socket);
      if (rest === undefined) return;
      const { head } = read(rest) as { head?: StrictHead };
      if (head === undefined) errors.push(`an incomplete head: ${JSON.stringify(rest.toString('latin1'))}`);
      else abortedRequests.push(head);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    abortedRequests,
    errors,
    countPending: () => incomplete.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function read(bytes: Buffer) {
  return readStrictly(bytes, { line: UPSTREAM_LINE, unframed: 'no body' });
}

function responseTo({ line }: StrictMessage): string {
  const [method = '', target = ''] = line.split(' ');
  const body = JSON.stringify({ target });
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return method === 'HEAD' ? head : head + body;
}
