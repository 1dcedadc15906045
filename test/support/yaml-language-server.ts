import { fileURLToPath, pathToFileURL } from 'node:url';
import { LanguageServerProcess } from './language-server-process.ts';

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

interface Published {
  readonly uri: string;
  readonly diagnostics: readonly RawDiagnostic[];
}

interface RawDiagnostic {
  readonly range: { readonly start: { readonly line: number; readonly character: number } };
  readonly message: string;
}

/** Runs yaml-language-server as an editor does: as a process with messages on its standard streams. */
export class YamlLanguageServer {
  readonly #process = new LanguageServerProcess([SERVER, '--stdio']);
  readonly #waiting = new Map<string, (published: Published) => void>();
  #version = 0;

  /** @param schemas the schema of each file, by a part of its path */
  static async start(schemas: Readonly<Record<string, string>> = {}): Promise<YamlLanguageServer> {
    const server = new YamlLanguageServer();
    server.#process.onRequest = (method, params) => resultOf(method, params, schemas);
    server.#process.onNotification = (method, params: Published) => {
      if (method === 'textDocument/publishDiagnostics') server.#waiting.get(params.uri)?.(params);
    };
    await server.#process.request('initialize', { processId: process.pid, rootUri: null, capabilities: CAPABILITIES });
    server.#process.notify('initialized', {});
    server.#process.notify('workspace/didChangeConfiguration', { settings: null });
    return server;
  }

  /** Opens a file and returns its diagnostics, in reading order. */
  async diagnose(path: string, text: string): Promise<Diagnostic[]> {
    const uri = pathToFileURL(path).href;
    // The server reuses its results for a version of a file.
    this.#version += 1;
    const textDocument = { uri, languageId: 'yaml', version: this.#version, text };
    const { diagnostics } = await this.#publishedAfter('textDocument/didOpen', textDocument);
    // The server removes the diagnostics of a closed file, with a message that the next call must not receive.
    await this.#publishedAfter('textDocument/didClose', { uri });
    return diagnostics
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
    const { items } = await this.#process.request<{ readonly items: readonly Completion[] }>(
      'textDocument/completion',
      {
        textDocument: { uri },
        position,
      },
    );
    await this.#publishedAfter('textDocument/didClose', { uri });
    return items;
  }

  close(): Promise<void> {
    return this.#process.kill();
  }

  #publishedAfter(method: string, textDocument: { readonly uri: string }): Promise<Published> {
    return new Promise((resolve) => {
      this.#waiting.set(textDocument.uri, resolve);
      this.#process.notify(method, { textDocument });
    });
  }
}

const CAPABILITIES = { workspace: { configuration: true, didChangeConfiguration: { dynamicRegistration: true } } };

/** Returns the settings of the editor, which the server requests. */
function resultOf(
  method: string,
  params: { readonly items?: readonly unknown[] } | undefined,
  schemas: Readonly<Record<string, string>>,
): unknown {
  if (method !== 'workspace/configuration') return null;
  const yaml = { schemas, schemaStore: { enable: false }, validate: true };
  return (params?.items ?? []).map((item) => ((item as { section?: string }).section === 'yaml' ? yaml : {}));
}
