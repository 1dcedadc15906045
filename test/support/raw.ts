import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type Message, readMessage, valuesOf } from './message.ts';

/** Opens a connection; its errors do not end the test. */
export async function openSocket(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes on a connection of their own and reads until the other side closes. */
export async function exchangeBytes(port: number, bytes: string | Buffer): Promise<string> {
  const socket = await openSocket(port);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** How the other side ends a connection: `a clean end`, or the code of an error. Somebody has to read it. */
export function endOf(socket: Socket): Promise<string | undefined> {
  return new Promise((resolve) => {
    socket.on('end', () => resolve('a clean end'));
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
}

/** A request head with `Connection: close`. */
export function head(line: string, ...headers: string[]): string {
  return [line, 'Host: gateway.test', 'Connection: close', ...headers, '', ''].join('\r\n');
}

/** A request head on a connection that is to be kept. */
export function keptHead(line: string, ...headers: string[]): string {
  return [line, 'Host: gateway.test', ...headers, '', ''].join('\r\n');
}

/** A body in chunked framing, one chunk for each text. */
export function chunked(...texts: string[]): string {
  return [...texts.map((text) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`), '0\r\n\r\n'].join('');
}

export interface RawAnswer extends Message {
  readonly status: number;
  readonly reason: string;
  /** All values of a header, in order. */
  values(name: string): string[];
  /** The only value of a header; `undefined` when there is none or more than one. */
  value(name: string): string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what a test expects of it is the test's own affair.
  json(): any;
}

/** A client's connection on which every byte is the test's own. */
export class Wire {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #isClosed = false;
  readonly #news = new EventEmitter();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#news.emit('news');
    });
    const close = () => {
      this.#isClosed = true;
      this.#news.emit('news');
    };
    socket.on('end', close);
    socket.on('close', close);
  }

  static async open(port: number): Promise<Wire> {
    return new Wire(await openSocket(port));
  }

  /** What came and was not yet taken as an answer. */
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

  /** The next message of the gateway, interim ones too. Rejects when the connection ends before a head came. */
  async message(method = 'GET'): Promise<RawAnswer> {
    const hasBody = (line: string) => method !== 'HEAD' && !/^HTTP\/1\.1 (1..|204|304) /.test(line);
    for (;;) {
      const message = readMessage(this.#received, { hasBody, isClosed: this.#isClosed });
      if (message !== undefined) {
        this.#received = this.#received.subarray(message.size);
        return toAnswer(message);
      }
      if (this.#isClosed) throw new Error(`the connection closed after "${this.rest.slice(0, 200)}"`);
      await once(this.#news, 'news');
    }
  }

  /** The next final answer. */
  async answer(method = 'GET'): Promise<RawAnswer> {
    for (;;) {
      const message = await this.message(method);
      if (message.status >= 200) return message;
    }
  }

  /** Waits until this text has come. */
  async until(text: string): Promise<void> {
    while (!this.rest.includes(text)) {
      if (this.#isClosed) throw new Error(`the connection closed after "${this.rest.slice(-200)}"`);
      await once(this.#news, 'news');
    }
  }

  /** Waits until the other side has closed. */
  async closed(): Promise<void> {
    while (!this.#isClosed) await once(this.#news, 'news');
  }

  end(): void {
    this.socket.destroy();
  }
}

/** One request on a connection of its own. */
export async function ask(port: number, bytes: string | Buffer): Promise<RawAnswer> {
  const wire = await Wire.open(port);
  wire.write(bytes);
  try {
    return await wire.answer(bytes.toString().slice(0, 20).split(' ')[0]);
  } finally {
    wire.end();
  }
}

function toAnswer(message: Message): RawAnswer {
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
