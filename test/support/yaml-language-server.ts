import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath, pathToFileURL } from 'node:url';

const SERVER = fileURLToPath(import.meta.resolve('yaml-language-server/bin/yaml-language-server'));

/** A diagnostic as an editor shows it. Lines and columns count from 1. */
export interface Diagnostic {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A completion as an editor offers it. */
export interface Completion {
  readonly label: string;
  /** The text to insert, with placeholders such as `${1:name}`. */
  readonly insertText: string;
}

interface Message {
  readonly id?: number;
  readonly result?: { readonly items: readonly Completion[] };
  readonly method?: string;
  readonly params?: {
    readonly uri?: string;
    readonly items?: readonly unknown[];
    readonly diagnostics?: RawDiagnostic[];
  };
}

interface RawDiagnostic {
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
  readonly message: string;
}

/** Runs yaml-language-server as an editor does: as a process with messages on its standard streams. */
export class YamlLanguageServer {
  readonly #process = spawn(process.execPath, [SERVER, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  readonly #waiting = new Map<string | number, (message: Message) => void>();
  #received = Buffer.alloc(0);
  #version = 0;

  /** @param schemas the schema of each file, by a part of its path */
  static async start(schemas: Readonly<Record<string, string>> = {}): Promise<YamlLanguageServer> {
    const server = new YamlLanguageServer();
    server.#process.stdout.on('data', (chunk: Buffer) => server.#receive(chunk, schemas));
    // The server may be ended before it has read a response.
    server.#process.stdin.on('error', () => undefined);
    await server.#request('initialize', { processId: process.pid, rootUri: null, capabilities: CAPABILITIES });
    server.#send({ method: 'initialized', params: {} });
    server.#send({ method: 'workspace/didChangeConfiguration', params: { settings: null } });
    return server;
  }

  /** Opens a file and returns its diagnostics, in reading order. */
  async diagnose(path: string, text: string): Promise<Diagnostic[]> {
    const uri = pathToFileURL(path).href;
    // The server reuses its results for a version of a file.
    this.#version += 1;
    const textDocument = { uri, languageId: 'yaml', version: this.#version, text };
    const { params } = await this.#publishedAfter('textDocument/didOpen', textDocument);
    // The server removes the diagnostics of a closed file, with a message that the next call must not receive.
    await this.#publishedAfter('textDocument/didClose', { uri });
    return (params?.diagnostics ?? [])
      .map(({ range, message }) => ({ line: range.start.line + 1, column: range.start.character + 1, message }))
      .toSorted((a, b) => a.line - b.line || a.column - b.column);
  }

  /** Opens a file and returns the completions at its end. */
  async completionsAtEnd(path: string, text: string): Promise<readonly Completion[]> {
    const uri = pathToFileURL(path).href;
    this.#version += 1;
    const textDocument = { uri, languageId: 'yaml', version: this.#version, text };
    await this.#publishedAfter('textDocument/didOpen', textDocument);
    const lines = text.split('\n');
    const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
    const { result } = await this.#request('textDocument/completion', { textDocument: { uri }, position });
    await this.#publishedAfter('textDocument/didClose', { uri });
    return result?.items ?? [];
  }

  async close(): Promise<void> {
    const closed = once(this.#process, 'close');
    this.#process.kill();
    await closed;
  }

  #publishedAfter(method: string, textDocument: { readonly uri: string }): Promise<Message> {
    return new Promise((resolve) => {
      this.#waiting.set(textDocument.uri, resolve);
      this.#send({ method, params: { textDocument } });
    });
  }

  #request(method: string, params: object): Promise<Message> {
    return new Promise((resolve) => {
      this.#waiting.set(1, resolve);
      this.#send({ id: 1, method, params });
    });
  }

  #send(message: object): void {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  #receive(chunk: Buffer, schemas: Readonly<Record<string, string>>): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (;;) {
      const headEnd = this.#received.indexOf('\r\n\r\n');
      const [, length] = /Content-Length: (\d+)/.exec(this.#received.toString('latin1', 0, headEnd)) ?? [];
      const end = headEnd + 4 + Number(length);
      if (headEnd === -1 || this.#received.length < end) return;
      const message = JSON.parse(this.#received.toString('utf8', headEnd + 4, end)) as Message;
      this.#received = this.#received.subarray(end);
      this.#handle(message, schemas);
    }
  }

  #handle({ id, method, params, ...message }: Message, schemas: Readonly<Record<string, string>>): void {
    if (method === undefined) this.#waiting.get(id ?? 0)?.(message);
    else if (method === 'textDocument/publishDiagnostics')
      this.#waiting.get(params?.uri ?? '')?.({ params: params ?? {} });
    else if (id !== undefined) this.#send({ id, result: resultOf(method, params, schemas) });
  }
}

const CAPABILITIES = { workspace: { configuration: true, didChangeConfiguration: { dynamicRegistration: true } } };

/** Returns the settings of the editor, which the server requests. */
function resultOf(method: string, params: Message['params'], schemas: Readonly<Record<string, string>>): unknown {
  if (method !== 'workspace/configuration') return null;
  const yaml = { schemas, schemaStore: { enable: false }, validate: true };
  return (params?.items ?? []).map((item) => ((item as { section?: string }).section === 'yaml' ? yaml : {}));
}
