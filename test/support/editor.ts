import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Diagnostic, Position, TextEdit, WorkspaceEdit } from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { serveLanguage } from '../../src/editor/connection.ts';
import { LanguageClient, LanguageServerProcess } from './language-server-process.ts';

/** The entry point of the command line. */
export const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

interface Published {
  readonly uri: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Starts `signing-gateway lsp` as a process, as an editor does. */
export function startServerProcess(folder: string): LanguageServerProcess {
  return new LanguageServerProcess([MAIN, 'lsp'], { cwd: folder });
}

/** Starts the language server in this process, which is much faster. */
function serveHere(env: Readonly<Record<string, string>>): LanguageClient {
  const [input, output] = [new PassThrough(), new PassThrough()];
  serveLanguage({ input, output, env: { ...process.env, ...env }, version: '0' });
  return new LanguageClient(input, output);
}

/** An editor that has a folder open and uses the language server. Files are named relative to the folder. */
export class Editor<Server extends LanguageClient = LanguageClient> {
  readonly folder: string;
  readonly server: Server;
  readonly #open = new Map<string, TextDocument>();
  readonly #diagnostics = new Map<string, readonly Diagnostic[]>();
  readonly #listeners = new Set<() => void>();
  /** The messages of the server for its log. */
  readonly logged: unknown[] = [];

  private constructor(folder: string, server: Server) {
    this.folder = folder;
    this.server = server;
    this.server.onNotification = (method, params: Published) => {
      if (method !== 'textDocument/publishDiagnostics') return void this.logged.push(params);
      this.#diagnostics.set(this.#nameOf(params.uri), params.diagnostics);
      for (const listener of this.#listeners) listener();
    };
  }

  /** @param root how the editor names its folder; older editors send `rootUri` alone */
  static start(
    folder: string,
    env: Readonly<Record<string, string>> = {},
    root: 'workspaceFolders' | 'rootUri' = 'workspaceFolders',
    capabilities: object = {},
  ): Promise<Editor> {
    return Editor.startWith(serveHere(env), folder, root, capabilities);
  }

  /** Starts an editor with a server. */
  static async startWith<Server extends LanguageClient>(
    server: Server,
    folder: string,
    root: 'workspaceFolders' | 'rootUri' = 'workspaceFolders',
    capabilities: object = {},
  ): Promise<Editor<Server>> {
    const editor = new Editor(folder, server);
    const uri = pathToFileURL(folder).href;
    await editor.server.request('initialize', {
      processId: server instanceof LanguageServerProcess ? process.pid : null,
      rootUri: null,
      capabilities,
      ...(root === 'rootUri' ? { rootUri: uri } : { workspaceFolders: [{ uri, name: 'project' }] }),
    });
    editor.server.notify('initialized', {});
    return editor;
  }

  uriOf(name: string): string {
    return pathToFileURL(join(this.folder, name)).href;
  }

  textOf(name: string): string {
    return this.#open.get(name)?.getText() ?? readFileSync(join(this.folder, name), 'utf8');
  }

  open(name: string, text = this.textOf(name)): void {
    const document = TextDocument.create(this.uriOf(name), 'yaml', 1, text);
    this.#open.set(name, document);
    this.server.notify('textDocument/didOpen', {
      textDocument: { uri: document.uri, languageId: 'yaml', version: 1, text },
    });
  }

  close(name: string): void {
    this.#open.delete(name);
    this.server.notify('textDocument/didClose', { textDocument: { uri: this.uriOf(name) } });
  }

  /** Replaces a part of an open file, without saving it. */
  edit(name: string, start: number, end: number, text: string): void {
    const document = this.#documentOf(name);
    const change = { range: { start: document.positionAt(start), end: document.positionAt(end) }, text };
    const next = TextDocument.update(document, [change], document.version + 1);
    this.server.notify('textDocument/didChange', {
      textDocument: { uri: next.uri, version: next.version },
      contentChanges: [change],
    });
  }

  /** Replaces the first occurrence of a text. */
  replace(name: string, before: string, after: string): void {
    const start = this.textOf(name).indexOf(before);
    if (start === -1) throw new Error(`${name} does not contain ${before}`);
    this.edit(name, start, start + before.length, after);
  }

  /** Returns the position in the first occurrence of a text, where it has a `|`. */
  positionOf(name: string, text: string): Position {
    const at = this.textOf(name).indexOf(text.replace('|', ''));
    if (at === -1) throw new Error(`${name} does not contain ${text}`);
    return this.#documentOf(name).positionAt(at + Math.max(0, text.indexOf('|')));
  }

  /** Sends a request about a file, at the place of a `|` in a text of it. */
  request<Result>(method: string, name: string, at?: string, params: object = {}): Promise<Result> {
    return this.server.request<Result>(`textDocument/${method}`, {
      textDocument: { uri: this.uriOf(name) },
      ...(at !== undefined && { position: this.positionOf(name, at) }),
      ...params,
    });
  }

  /** Returns the diagnostics of all files for their current texts, by the name of the file. */
  async diagnostics(): Promise<Record<string, readonly Diagnostic[]>> {
    const [name = ''] = this.#open.keys();
    const position = { line: 0, character: 0 };
    // The server checks the changed files before it responds.
    await this.request('codeAction', name, undefined, {
      range: { start: position, end: position },
      context: { diagnostics: [], only: ['quickfix'] },
    });
    return Object.fromEntries([...this.#diagnostics].filter(([, { length }]) => length > 0));
  }

  /** Waits until the published diagnostics meet a condition. */
  async waitFor(isMet: (diagnostics: ReadonlyMap<string, readonly Diagnostic[]>) => boolean): Promise<void> {
    while (!isMet(this.#diagnostics)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#listeners.add(resolve);
      await promise;
      this.#listeners.delete(resolve);
    }
  }

  /** Returns the texts of the files after an edit of several files, by name. */
  applied({ changes = {} }: WorkspaceEdit): Record<string, string> {
    return Object.fromEntries(
      Object.entries(changes).map(([uri, edits]: [string, TextEdit[]]) => {
        const name = this.#nameOf(uri);
        return [name, TextDocument.applyEdits(TextDocument.create(uri, 'yaml', 0, this.textOf(name)), edits)];
      }),
    );
  }

  async stop(): Promise<void> {
    await this.server.request('shutdown', {});
    if (!(this.server instanceof LanguageServerProcess)) return;
    const { closed } = this.server;
    this.server.notify('exit', {});
    await closed;
  }

  #documentOf(name: string): TextDocument {
    const document = this.#open.get(name);
    if (document === undefined) throw new Error(`${name} is not open`);
    return document;
  }

  #nameOf(uri: string): string {
    return relative(this.folder, fileURLToPath(uri));
  }
}
