import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';

export interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface Upstream {
  readonly url: string;
  /** Every request that came, in order. */
  readonly requests: Recorded[];
  close(): Promise<void>;
}

export type Respond = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** An upstream that records every request and answers as `respond` says, by default 200 with `ok`. */
export async function startUpstream(
  respond: Respond = (_request, response) => void response.end('ok'),
): Promise<Upstream> {
  const requests: Recorded[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    for await (const chunk of request.on('error', () => undefined)) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    requests.push({ method: request.method ?? '', url: request.url ?? '', headers: request.rawHeaders, body });
    respond(request, response, body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface RawUpstream {
  readonly url: string;
  readonly sockets: Socket[];
  close(): Promise<void>;
}

/** An upstream of bytes: `talk` does what it likes with each connection. */
export async function startRawUpstream(talk: (socket: Socket) => void): Promise<RawUpstream> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    talk(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
