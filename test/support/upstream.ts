import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { type Message, readMessage } from './message.ts';

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
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The gateway has given the exchange up.
      return;
    }
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

export interface Listening {
  readonly url: string;
  readonly server: Server;
  close(): Promise<void>;
}

/** An upstream that reads and answers as it likes, body and all. */
export async function startListening(listener: RequestListener): Promise<Listening> {
  const server = createServer((request, response) => {
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    listener(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface WireUpstream extends RawUpstream {
  /** Every whole request that came, as it stood on the wire. */
  readonly messages: Message[];
  /** Every byte that came. */
  bytes(): Buffer;
}

/** What a wire upstream does with a request: bytes to answer with, or anything with the connection. */
export type WireAnswer = string | Buffer | ((socket: Socket, request: Message) => void);

/** An upstream that reads requests strictly off the wire and answers each with the bytes it is told. */
export async function startWireUpstream(answer: (request: Message) => WireAnswer, port = 0): Promise<WireUpstream> {
  const messages: Message[] = [];
  const received: Buffer[] = [];
  const upstream = await startRawUpstream((socket) => {
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk);
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const message = rest.length === 0 ? undefined : readMessage(rest, { isRequest: true });
        if (message === undefined) return;
        rest = rest.subarray(message.size);
        messages.push(message);
        const said = answer(message);
        if (typeof said === 'function') said(socket, message);
        else socket.write(said);
      }
    });
  }, port);
  return { ...upstream, messages, bytes: () => Buffer.concat(received) };
}

export interface RawUpstream {
  readonly url: string;
  readonly sockets: Socket[];
  close(): Promise<void>;
}

/** An upstream of bytes: `talk` does what it likes with each connection. */
export async function startRawUpstream(talk: (socket: Socket) => void, port = 0): Promise<RawUpstream> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    talk(socket);
  });
  server.listen(port, '127.0.0.1');
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
