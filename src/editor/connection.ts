import { setImmediate as immediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type CancellationToken,
  CodeActionKind,
  createConnection,
  ErrorCodes,
  type InitializeResult,
  type Location,
  LSPErrorCodes,
  MarkupKind,
  type Position,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
  type WorkspaceFolder,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { attempt } from '../engine/attempt.ts';
import type { Environment } from '../engine/manifest/source.ts';
import { FIX_ALL, fixAllAction, formatFile, quickFixes } from './code-actions.ts';
import { completeNames } from './completion.ts';
import { hoverAt } from './hover.ts';
import { filesOf, findOccurrences, type NameOccurrence, nameAtOffset } from './names.ts';
import { OpenProjects } from './open-projects.ts';
import { RenameError, rename, requireRenameable } from './rename.ts';
import { documentSymbols, publicRouteLenses } from './symbols.ts';
import { rangeIn, type TextFile, toDiagnostic, toEditorEdit } from './text-file.ts';
import { Workspace } from './workspace.ts';

interface LanguageServerOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Variables that manifests may use, as for `lint`. */
  readonly env: Environment['env'];
  readonly version: string;
}

/** Limits the places that one request returns, for editors that show each of them. */
const MAX_LOCATIONS = 10_000;

/** Serves the language server protocol until the client sends `exit` or closes the input. No text leaves the process but to the client. */
export function serveLanguage({ input, output, env, version }: LanguageServerOptions): void {
  const connection = createConnection(input, output);
  const documents = new TextDocuments(TextDocument);
  const workspace = new Workspace(env);
  const projects = new OpenProjects(workspace, {
    onProblems: (path, problems) =>
      void connection.sendDiagnostics({ uri: workspace.uriOf(path), diagnostics: problems.map(toDiagnostic) }),
    onError: (error) => connection.console.error(error instanceof Error ? (error.stack ?? error.message) : `${error}`),
  });

  let refusal: ResponseError | undefined = new ResponseError(
    ErrorCodes.ServerNotInitialized,
    'send "initialize" first',
  );
  connection.onInitialize(({ workspaceFolders, rootUri, capabilities }): InitializeResult => {
    refusal = undefined;
    // Editors without workspace folders send the one folder that they have open.
    let folders = workspaceFolders ?? (rootUri === null ? [] : [{ uri: rootUri, name: '' }]);
    workspace.setRoots(pathsOf(folders));
    connection.onInitialized(() => {
      if (capabilities.workspace?.workspaceFolders !== true) return;
      connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        folders = [...folders.filter(({ uri }) => removed.every((folder) => folder.uri !== uri)), ...added];
        workspace.setRoots(pathsOf(folders));
        projects.filesChanged();
      });
    });
    return { capabilities: CAPABILITIES, serverInfo: { name: 'signing-gateway', version } };
  });
  connection.onShutdown(() => {
    refusal = new ResponseError(ErrorCodes.InvalidRequest, 'the client has sent "shutdown"; send "exit"');
    projects.close();
  });
  connection.onDidChangeWatchedFiles(() => projects.filesChanged());
  documents.onDidChangeContent(({ document }) => {
    const path = pathOf(document.uri);
    if (path === undefined) return;
    workspace.open(path, document);
    projects.textChanged(path);
  });
  documents.onDidClose(({ document }) => {
    const path = pathOf(document.uri);
    if (path === undefined) return;
    workspace.close(path);
    projects.filesChanged();
  });

  /** Runs a request on the file that it names. A file that is not open, or none of the gateway's, has no results. */
  const onFile = <Params extends { readonly textDocument: { readonly uri: string } }, Result>(
    respond: (file: TextFile, params: Params) => Result,
  ) => {
    return async (params: Params, token: CancellationToken): Promise<Result | null | ResponseError> => {
      if (refusal !== undefined) return refusal;
      // Lets the connection read a cancellation that is already there.
      await immediate();
      if (token.isCancellationRequested) return new ResponseError(LSPErrorCodes.RequestCancelled, 'cancelled');
      const path = pathOf(params.textDocument.uri);
      const file = path === undefined ? undefined : workspace.openFile(path);
      if (file === undefined || workspace.manifestsOf(file).length === 0) return null;
      try {
        return respond(file, params);
      } catch (error) {
        if (error instanceof RenameError) return new ResponseError(LSPErrorCodes.RequestFailed, error.message);
        throw error;
      }
    };
  };
  const nameAt = (file: TextFile, position: Position) => nameAtOffset(file, file.document.offsetAt(position));

  connection.onCompletion(
    onFile((file, { position }) => completeNames(file, file.document.offsetAt(position), projects.projectsOf(file))),
  );
  connection.onDefinition(
    onFile((file, { position }) => {
      const name = nameAt(file, position);
      if (name === undefined) return [];
      const places = findOccurrences(name, filesOf(projects.projectsOf(file)));
      return places.filter(({ isDefinition }) => isDefinition).map(toLocation);
    }),
  );
  connection.onReferences(
    onFile((file, { position, context }) => {
      const name = nameAt(file, position);
      if (name === undefined) return [];
      const places = findOccurrences(name, filesOf(projects.projectsOfName(file, name)));
      const wanted = places.filter(({ isDefinition }) => context.includeDeclaration || !isDefinition);
      return wanted.slice(0, MAX_LOCATIONS).map(toLocation);
    }),
  );
  connection.onPrepareRename(
    onFile((file, { position }) => {
      const name = nameAt(file, position);
      if (name === undefined) return null;
      requireRenameable(name);
      return { range: rangeIn(file, name), placeholder: name.name };
    }),
  );
  connection.onRenameRequest(
    onFile((file, { position, newName }) => {
      const name = nameAt(file, position);
      if (name === undefined) return null;
      const renamed = rename(name, newName, projects.projectsOfName(file, name));
      const changes = renamed.map(({ file: other, edits }) => [
        other.uri,
        edits.map((edit) => toEditorEdit(other, edit)),
      ]);
      return { changes: Object.fromEntries(changes) };
    }),
  );
  connection.onHover(
    onFile((file, { position }) => {
      const text = hoverAt(file, file.document.offsetAt(position), projects.projectsOf(file));
      return text === undefined ? null : { contents: { kind: MarkupKind.Markdown, value: text } };
    }),
  );
  connection.onCodeLens(onFile((file) => publicRouteLenses(file)));
  connection.onDocumentSymbol(onFile((file) => documentSymbols(file)));
  connection.onDocumentFormatting(onFile((file) => formatFile(file)));
  connection.onCodeAction(
    onFile((file, { range, context: { only } }) => {
      const isWanted = (kind: string) =>
        only?.some((wanted) => kind === wanted || kind.startsWith(`${wanted}.`)) ?? true;
      const own = projects.projectsOf(file);
      return [
        ...(isWanted(CodeActionKind.QuickFix) ? own.flatMap(({ problems }) => quickFixes(file, range, problems)) : []),
        ...(isWanted(FIX_ALL) ? own.slice(0, 1).flatMap((project) => fixAllAction(file, project)) : []),
      ];
    }),
  );
  documents.listen(connection);
  connection.listen();
}

const CAPABILITIES: InitializeResult['capabilities'] = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
  completionProvider: { triggerCharacters: [' ', '#', '/', '['] },
  definitionProvider: true,
  referencesProvider: true,
  renameProvider: { prepareProvider: true },
  hoverProvider: true,
  codeLensProvider: {},
  documentSymbolProvider: true,
  documentFormattingProvider: true,
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, FIX_ALL] },
  workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
};

/** Returns the path of a file; `undefined` for a document that is not saved yet or not on this machine. */
function pathOf(uri: string): string | undefined {
  return attempt(() => fileURLToPath(uri));
}

function pathsOf(folders: readonly WorkspaceFolder[]): string[] {
  return folders.flatMap(({ uri }) => pathOf(uri) ?? []);
}

function toLocation({ file, start, end }: NameOccurrence): Location {
  return { uri: file.uri, range: rangeIn(file, { start, end }) };
}
