/** The parts of the module `vscode` that the extension and its language client use. All others do nothing. */
import { pathToFileURL } from 'node:url';

export interface FakeDiagnostic {
  readonly message: string;
  readonly code?: unknown;
}

interface FakeDocument {
  readonly uri: FakeUri;
  readonly languageId: string;
  readonly version: number;
  readonly isClosed: boolean;
  getText(): string;
}

class FakeUri {
  readonly scheme = 'file';
  readonly fsPath: string;

  constructor(path: string) {
    this.fsPath = path;
  }

  static file(path: string): FakeUri {
    return new FakeUri(path);
  }

  static parse(text: string): FakeUri {
    return new FakeUri(decodeURIComponent(new URL(text).pathname));
  }

  toString(): string {
    return pathToFileURL(this.fsPath).href;
  }
}

class EventEmitter {
  readonly #listeners = new Set<(event: unknown) => void>();
  readonly event = (listener: (event: unknown) => void, self?: unknown) => {
    const bound = listener.bind(self);
    this.#listeners.add(bound);
    return { dispose: () => this.#listeners.delete(bound) };
  };

  fire(event: unknown): void {
    for (const listener of this.#listeners) listener(event);
  }

  dispose(): void {
    this.#listeners.clear();
  }
}

class CancellationTokenSource {
  readonly token = { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event };

  cancel(): void {
    this.token.isCancellationRequested = true;
  }

  dispose(): void {}
}

class Diagnostic {
  readonly range: unknown;
  readonly message: string;

  constructor(range: unknown, message: string) {
    this.range = range;
    this.message = message;
  }
}

/** An editor whose settings are `command` for `signingGateway.command`, and whose workspace is `folder`. */
export class FakeEditor {
  readonly diagnostics = new Map<string, readonly FakeDiagnostic[]>();
  readonly commands = new Map<string, () => Promise<void>>();
  readonly errors: string[] = [];
  readonly executed: unknown[][] = [];
  readonly inspectedSettings: string[] = [];
  readonly module: object;
  readonly #documents: FakeDocument[] = [];
  readonly #opened = new EventEmitter();
  command: readonly string[] | undefined;

  constructor(folder: string, command?: readonly string[]) {
    this.command = command;
    this.module = withDefaults(this.#known(folder));
  }

  open(path: string, text: string): void {
    const document = { uri: new FakeUri(path), languageId: 'yaml', version: 1, isClosed: false, getText: () => text };
    this.#documents.push(document);
    this.#opened.fire(document);
  }

  #known(folder: string): Record<string, unknown> {
    return {
      version: '1.91.0',
      Uri: FakeUri,
      EventEmitter,
      CancellationTokenSource,
      Diagnostic,
      DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
      commands: {
        registerCommand: (name: string, run: () => Promise<void>) => {
          this.commands.set(name, run);
          return { dispose: () => this.commands.delete(name) };
        },
        executeCommand: async (...args: unknown[]) => void this.executed.push(args),
      },
      window: {
        tabGroups: { all: [] },
        visibleTextEditors: [],
        activeTextEditor: undefined,
        showErrorMessage: async (message: string, ...choices: unknown[]) => {
          this.errors.push(message);
          return choices[0];
        },
      },
      workspace: {
        notebookDocuments: [],
        textDocuments: this.#documents,
        workspaceFolders: [{ uri: new FakeUri(folder), name: 'gateway', index: 0 }],
        onDidOpenTextDocument: this.#opened.event,
        getConfiguration: () => ({
          get: () => undefined,
          inspect: (name: string) => {
            this.inspectedSettings.push(name);
            return { globalValue: this.command };
          },
        }),
      },
      languages: {
        match: () => 10,
        createDiagnosticCollection: () => ({
          set: (uri: FakeUri, diagnostics: readonly FakeDiagnostic[]) => this.diagnostics.set(uri.fsPath, diagnostics),
          delete: (uri: FakeUri) => this.diagnostics.delete(uri.fsPath),
          clear: () => this.diagnostics.clear(),
          dispose: () => this.diagnostics.clear(),
        }),
      },
    };
  }
}

const NAMESPACES: ReadonlySet<unknown> = new Set(['commands', 'window', 'workspace', 'languages']);

/** Returns the object with a default for each property that it does not have: a class that is a function and an object too. */
function withDefaults(known: object): object {
  const defaults = new Map<string | symbol, unknown>();
  return new Proxy(known, {
    get(target, key, receiver) {
      const value = Reflect.get(target, key, receiver);
      if (key in target) return NAMESPACES.has(key) ? withDefaults(value) : value;
      if (typeof key === 'symbol' || key === 'then') return undefined;
      if (!defaults.has(key)) defaults.set(key, withDefaults(class {}));
      return defaults.get(key);
    },
    apply: () => withDefaults({ dispose: () => undefined }),
  });
}
