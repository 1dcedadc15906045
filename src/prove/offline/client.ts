import type { IncomingMessage } from 'node:http';
import { Duplex, Writable } from 'node:stream';
import { loadHttp } from '../../engine/node-internals/built-in-modules.ts';
import { type OfflineRequest, requestBytes } from './request-bytes.ts';

/** A response: as the stub of the upstream sends it, or as the client receives it. */
export interface OfflineResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Sends one request over an unused socket and reads the response; `undefined` if the connection closes before it is complete. */
export function sendOverSocket(socket: Duplex, request: OfflineRequest): Promise<OfflineResponse | undefined> {
  const { chunks, isComplete } = requestBytes(request);
  return new Promise((resolve) => {
    const end = (response?: OfflineResponse) => {
      resolve(response);
      socket.destroy();
    };
    const reader = loadHttp().request({
      // The parser must know only that the response to HEAD has no body.
      method: request.method === 'HEAD' ? 'HEAD' : 'GET',
      createConnection: () => readOnlySocket(socket),
    });
    reader.on('response', async (response) => {
      // Ignore a body: the refusal of a malformed message has one, even if the message began with HEAD.
      if (request.method === 'HEAD') return end(headOf(response));
      const body: Buffer[] = [];
      try {
        for await (const chunk of response) body.push(chunk as Buffer);
      } catch {
        return end();
      }
      end({ ...headOf(response), body: Buffer.concat(body) });
    });
    reader.on('upgrade', (response) => end(headOf(response)));
    reader.on('error', () => end());
    reader.end();
    for (const chunk of chunks) socket.write(chunk);
    // Disconnect if the headers announce more bytes than the body has. Otherwise wait for the response.
    if (!isComplete) socket.end();
  });
}

function headOf({ statusCode = 0, rawHeaders }: IncomingMessage): OfflineResponse {
  return { status: statusCode, headers: rawHeaders, body: Buffer.alloc(0) };
}

/** Wraps the socket so that `node:http` parses the response and drops its request: it cannot write the malformed ones of this client. */
function readOnlySocket(socket: Duplex): Duplex {
  const dropped = new Writable({ write: (_chunk, _encoding, callback) => callback() });
  // The types of Node name only web streams here.
  return Duplex.from({ readable: socket, writable: dropped } as never);
}
