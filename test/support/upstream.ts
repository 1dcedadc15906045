import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { type Message, readMessage } from './message.ts';

export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

export interface Upstream {
  readonly url: string;
  /** The received requests, in order. */
  readonly requests: RecordedRequest[];
  close(): Promise<void>;
}

export type Respond = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void;

/** Starts an upstream that records every request and responds through `respond`. Default: status 200 and the body `ok`. */
export async function startUpstream(
  respond: Respond = (_request, response) => void response.end('ok'),
): Promise<Upstream> {
  const requests: RecordedRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The gateway has cancelled the exchange.
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

export interface UpstreamServer {
  readonly url: string;
  readonly server: Server;
  close(): Promise<void>;
}

/** Starts an upstream whose listener reads the request and writes the response itself. */
export async function startUpstreamServer(listener: RequestListener): Promise<UpstreamServer> {
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
  /** The complete requests, as received. */
  readonly messages: Message[];
  /** All received bytes. */
  bytes(): Buffer;
}

/** The bytes of a response, or a function that uses the connection itself. */
export type WireResponse = string | Buffer | ((socket: Socket, request: Message) => void);

/** Starts an upstream that parses requests strictly and responds to each with these bytes. */
export async function startWireUpstream(respond: (request: Message) => WireResponse, port = 0): Promise<WireUpstream> {
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
        const response = respond(message);
        if (typeof response === 'function') response(socket, message);
        else socket.write(response);
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

/** Starts a server as an upstream, on a port or the path of a unix socket. `handle` handles each connection. */
export async function startRawUpstream(
  handle: (socket: Socket) => void,
  address: number | string = 0,
): Promise<RawUpstream> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    handle(socket);
  });
  server.listen(typeof address === 'string' ? { path: address } : { port: address, host: '127.0.0.1' });
  await once(server, 'listening');
  return {
    url: typeof address === 'string' ? `unix:${address}` : `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Listens on a unix socket in a process that is too busy to accept connections. Its queue holds two of them. */
export async function startBusyServer(path: string): Promise<{ stop(): Promise<void> }> {
  const block = "() => process.stdout.write('.', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))";
  const listen = `require('node:net').createServer().listen({ path: ${JSON.stringify(path)}, backlog: 1 }, ${block})`;
  const child = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    stop: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
