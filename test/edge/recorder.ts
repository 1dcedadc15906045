import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { readStrictly, type StrictHead, type StrictMessage, Unreadable } from './strict.ts';

/** A gateway asks for a path, in HTTP/1.1, and in no other form. */
const UPSTREAM_LINE = /^[A-Z-]+ \/[!"$-~]* HTTP\/1\.1$/;

/** What an upstream got, down to the last byte. */
export interface Recorder {
  readonly url: string;
  /** Whole requests. */
  readonly requests: StrictMessage[];
  /** The heads of requests whose connection closed before their body was whole. */
  readonly cut: StrictHead[];
  /** Bytes that could not be accounted for. */
  readonly faults: string[];
  /** How many connections hold something that is not a whole request yet. */
  pending(): number;
  close(): Promise<void>;
}

/** An upstream that reads strictly, records everything, and answers each request with its own target. */
export async function startRecorder(): Promise<Recorder> {
  const sockets = new Set<Socket>();
  const waiting = new Map<Socket, Buffer>();
  const requests: StrictMessage[] = [];
  const cut: StrictHead[] = [];
  const faults: string[] = [];

  const take = (socket: Socket, chunk: Buffer) => {
    let rest = Buffer.concat([waiting.get(socket) ?? Buffer.alloc(0), chunk]);
    while (rest.length > 0) {
      const { message } = read(rest);
      if (message === undefined) break;
      requests.push(message);
      socket.write(answerTo(message));
      rest = rest.subarray(message.size);
    }
    if (rest.length > 0) waiting.set(socket, rest);
    else waiting.delete(socket);
  };
  const blame = (error: unknown, bytes: Buffer) => {
    if (!(error instanceof Unreadable)) throw error;
    faults.push(`${error.message} in ${JSON.stringify(bytes.toString('latin1').slice(0, 300))}`);
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      try {
        take(socket, chunk);
      } catch (error) {
        blame(error, chunk);
        waiting.delete(socket);
        socket.destroy();
      }
    });
    socket.on('close', () => {
      sockets.delete(socket);
      const rest = waiting.get(socket);
      waiting.delete(socket);
      if (rest === undefined) return;
      const { head } = read(rest) as { head?: StrictHead };
      if (head === undefined) faults.push(`a head that was cut: ${JSON.stringify(rest.toString('latin1'))}`);
      else cut.push(head);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    cut,
    faults,
    pending: () => waiting.size,
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

function answerTo({ line }: StrictMessage): string {
  const [method = '', target = ''] = line.split(' ');
  const body = JSON.stringify({ target });
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return method === 'HEAD' ? head : head + body;
}
