import { type ChildProcessByStdio, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** An error response of a language server. */
export class ResponseError extends Error {
  readonly code: number;

  constructor({ code, message }: { readonly code: number; readonly message: string }) {
    super(message);
    this.code = code;
  }
}

interface PendingRequest {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** An editor's side of the protocol: sends messages to a language server, and receives those of the server. */
export class LanguageClient {
  readonly #input: Writable;
  readonly #pending = new Map<number, PendingRequest>();
  #received = Buffer.alloc(0);
  #lastId = 0;
  /** Called for each notification of the server. */
  onNotification: (method: string, params: never) => void = () => undefined;
  /** Returns the result of a request of the server. */
  onRequest: (method: string, params: never) => unknown = () => null;

  /** @param input the input of the server */
  constructor(input: Writable, output: Readable) {
    this.#input = input;
    output.on('data', (chunk: Buffer) => this.#receive(chunk));
    // The server may be ended before it has read a response.
    input.on('error', () => undefined);
  }

  request<Result>(method: string, params: object): Promise<Result> {
    this.#lastId += 1;
    const id = this.#lastId;
    const result = new Promise<unknown>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#send({ id, method, params });
    return result as Promise<Result>;
  }

  /** Sends a request and its cancellation in one write, so that the server reads them together. */
  cancelledRequest<Result>(method: string, params: object): Promise<Result> {
    this.#input.cork();
    const result = this.request<Result>(method, params);
    this.notify('$/cancelRequest', { id: this.#lastId });
    this.#input.uncork();
    return result;
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  #send(message: Message): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#input.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const headEnd = this.#received.indexOf('\r\n\r\n');
      const [, length] = /Content-Length: (\d+)/.exec(this.#received.toString('latin1', 0, headEnd)) ?? [];
      const end = headEnd + 4 + Number(length);
      if (headEnd === -1 || this.#received.length < end) return;
      const message = JSON.parse(this.#received.toString('utf8', headEnd + 4, end)) as Message;
      this.#received = this.#received.subarray(end);
      this.#handle(message);
    }
  }

  #handle({ id, method, params, result, error }: Message): void {
    if (method !== undefined && id === undefined) this.onNotification(method, params as never);
    else if (method !== undefined && id !== undefined)
      this.#send({ id, result: this.onRequest(method, params as never) });
    else if (id !== undefined) {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) pending?.resolve(result);
      else pending?.reject(new ResponseError(error));
    }
  }
}

/** A language server as an editor runs it: a process with messages on its standard streams. */
export class LanguageServerProcess extends LanguageClient {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;

  constructor(args: readonly string[], options: Pick<SpawnOptions, 'cwd' | 'env'> = {}) {
    const child = spawn(process.execPath, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
    super(child.stdin, child.stdout);
    this.#process = child;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get closed(): Promise<unknown[]> {
    return once(this.#process, 'close');
  }

  /** Ends the process without a word, as an editor that crashes. */
  async kill(): Promise<void> {
    const { closed } = this;
    this.#process.kill();
    await closed;
  }

  /** Closes the input of the server, as an editor that has ended. */
  endInput(): void {
    this.#process.stdin.end();
  }
}
