import { type IncomingMessage, request } from 'node:http';
import { Duplex } from 'node:stream';
import { type OfflineRequest, requestBytes } from './request-bytes.ts';

/** What a client got. */
export interface OfflineResponse {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/**
 * Sends a request on a connection of its own and reads the answer.
 *
 * @returns `undefined` when the connection ended before the answer was whole
 */
export function sendOverSocket(socket: Duplex, asked: OfflineRequest): Promise<OfflineResponse | undefined> {
  const { chunks: pieces, isComplete } = requestBytes(asked);
  return new Promise((resolve) => {
    const end = (answer?: OfflineResponse) => {
      resolve(answer);
      socket.destroy();
    };
    const reader = request({
      // Only of one to HEAD it must know that the answer has no body.
      method: asked.method === 'HEAD' ? 'HEAD' : 'GET',
      createConnection: () => readOnlySocket(socket),
    });
    reader.on('response', async (response) => {
      // Bytes that are no request are answered with a body, whatever they began with.
      if (asked.method === 'HEAD') return end(headOf(response));
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of response) chunks.push(chunk as Buffer);
      } catch {
        return end();
      }
      end({ ...headOf(response), body: Buffer.concat(chunks) });
    });
    reader.on('upgrade', (response) => end(headOf(response)));
    reader.on('error', () => end());
    reader.end();
    for (const piece of pieces) socket.write(piece);
    // A client that has promised more than it sends leaves; any other one waits for its answer.
    if (!isComplete) socket.end();
  });
}

function headOf({ statusCode = 0, rawHeaders }: IncomingMessage): OfflineResponse {
  return { status: statusCode, headers: rawHeaders, body: Buffer.alloc(0) };
}

/** The library reads answers strictly, but writes no request that has two readings: what it writes is dropped. */
function readOnlySocket(socket: Duplex): Duplex {
  const reading = new Duplex({
    read: () => void socket.resume(),
    write: (_chunk, _encoding, callback) => callback(),
    destroy: (error, callback) => {
      socket.destroy();
      callback(error);
    },
  });
  socket.on('data', (chunk) => {
    if (!reading.push(chunk)) socket.pause();
  });
  socket.on('end', () => reading.push(null));
  socket.on('error', (error) => reading.destroy(error));
  socket.on('close', () => reading.destroy());
  return reading;
}
