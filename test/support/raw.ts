import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Message, readMessage, valuesOf } from './message.ts';

/** A port of loopback, or the path of a unix socket. */
type Address = number | string;

/** Opens a connection. Its errors do not fail the test. */
export async function openSocket(address: Address): Promise<Socket> {
  const socket = connect(typeof address === 'string' ? { path: address } : { port: address, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes on a new connection and returns everything that the peer sends before it closes. */
export async function exchangeBytes(port: number, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(port);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** Resolves with `a clean end` or the error code when the peer ends a connection. Something must read the socket. */
export function endOf(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    socket.on('end', () => resolve('a clean end'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
}

/** Returns a request head with `Connection: close`. */
export function head(line: string, ...headers: string[]): string {
  return [line, 'Host: gateway.test', 'Connection: close', ...headers, '', ''].join('\r\n');
}

/** Returns a request head that keeps the connection open. */
export function keepAliveHead(line: string, ...headers: string[]): string {
  return [line, 'Host: gateway.test', ...headers, '', ''].join('\r\n');
}

/** Returns a body in chunked encoding, one chunk for each text. */
export function chunked(...texts: string[]): string {
  return [...texts.map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`), '0\r\n\r\n'].join('');
}

export interface RawResponse extends Message {
  readonly status: number;
  readonly reason: string;
  /** Returns all values of a header, in order. */
  values(name: string): string[];
  /** Returns the only value of a header, or `undefined` if there is none or more than one. */
  value(name: string): string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the shape of the body that it expects.
  json(): any;
}

/** A client connection on which the test writes and reads every byte. */
export class Wire {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #isClosed = false;
  readonly #events = new EventEmitter();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#events.emit('change');
    });
    const close = () => {
      this.#isClosed = true;
      this.#events.emit('change');
    };
    socket.on('end', close);
    socket.on('close', close);
  }

  static async open(address: Address): Promise<Wire> {
    return new Wire(await openSocket(address));
  }

  /** The received bytes that no message has consumed. */
  get rest(): string {
    return this.#received.toString('latin1');
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(bytes: string | Buffer): this {
    this.socket.write(bytes);
    return this;
  }

  /** Reads the next response, including interim ones. Rejects if the connection ends before its head. */
  async message(method = 'GET'): Promise<RawResponse> {
    const hasBody = (line: string) => method !== 'HEAD' && !/^HTTP\/1\.1 (1..|204|304) /.test(line);
    for (;;) {
      const message = readMessage(this.#received, { hasBody, isClosed: this.#isClosed });
      if (message !== undefined) {
        this.#received = this.#received.subarray(message.size);
        return toResponse(message);
      }
      if (this.#isClosed) throw new Error(`the connection closed after "${this.rest.slice(0, 200)}"`);
      await once(this.#events, 'change');
    }
  }

  /** Reads the next final response. */
  async response(method = 'GET'): Promise<RawResponse> {
    for (;;) {
      const message = await this.message(method);
      if (message.status >= 200) return message;
    }
  }

  /** Waits until this text is received. */
  async until(text: string): Promise<void> {
    while (!this.rest.includes(text)) {
      if (this.#isClosed) throw new Error(`the connection closed after "${this.rest.slice(-200)}"`);
      await once(this.#events, 'change');
    }
  }

  /** Waits until the peer has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#isClosed) await once(this.#events, 'change');
  }

  end(): void {
    this.socket.destroy();
  }
}

/** Sends a request on a new connection and returns the response. */
export async function sendRequest(address: Address, bytes: string | Buffer): Promise<RawResponse> {
  const wire = await Wire.open(address);
  wire.write(bytes);
  try {
    return await wire.response(bytes.toString().slice(0, 20).split(' ')[0]);
  } finally {
    wire.end();
  }
}

function toResponse(message: Message): RawResponse {
  const [, status = '', reason = ''] = /^HTTP\/1\.1 (\d{3}) (.*)$/.exec(message.line) ?? [];
  if (status === '') throw new Error(`no status line: ${message.line}`);
  const values = (name: string) => valuesOf(message.headers, name);
  return {
    ...message,
    status: Number(status),
    reason,
    values,
    value: (name) => (values(name).length === 1 ? values(name)[0] : undefined),
    json: () => JSON.parse(message.body.toString()),
  };
}
