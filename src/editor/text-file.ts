import { pathToFileURL } from 'node:url';
import {
  type Diagnostic,
  DiagnosticSeverity,
  type TextEdit as EditorEdit,
  type Range as EditorRange,
} from 'vscode-languageserver';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { type ParsedText, parseText } from '../engine/manifest/document.ts';
import type { Range, Severity } from '../engine/problem/finding.ts';
import type { Problem, TextEdit } from '../engine/problem/problem.ts';

/** A file with its text, as the editor has it or as it is on disk. */
export interface TextFile {
  /** The absolute path. */
  readonly path: string;
  readonly uri: string;
  readonly document: TextDocument;
  readonly text: string;
  /** The values and their positions; also of a text with syntax errors, as far as they can be read. */
  readonly parsed: ParsedText;
}

export function createTextFile(path: string, text: string): TextFile {
  return openTextFile(path, TextDocument.create(pathToFileURL(path).href, 'yaml', 0, text));
}

/** Creates a file from a document of the editor. The text is parsed on first use. */
export function openTextFile(path: string, document: TextDocument): TextFile {
  const text = document.getText();
  let parsed: ParsedText | undefined;
  return {
    path,
    uri: document.uri,
    document,
    text,
    get parsed() {
      parsed ??= parseText(text);
      return parsed;
    },
  };
}

/** Converts offsets to a range of the protocol, whose lines and characters count from 0. */
export function rangeIn({ document }: TextFile, { start, end }: Pick<TextEdit, 'start' | 'end'>): EditorRange {
  return { start: document.positionAt(start), end: document.positionAt(end) };
}

export function toEditorEdit(file: TextFile, edit: TextEdit): EditorEdit {
  return { range: rangeIn(file, edit), newText: edit.text };
}

/** The name that editors show beside a message. */
const SOURCE = 'signing-gateway';

const SEVERITIES: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
};

/** Converts a problem to the form of the protocol. */
export function toDiagnostic({ rule, severity, file, range, message, related }: Problem): Diagnostic {
  const uri = pathToFileURL(related?.file ?? file).href;
  return {
    range: toEditorRange(range),
    severity: SEVERITIES[severity],
    source: SOURCE,
    code: rule,
    message,
    ...(related && {
      relatedInformation: [{ location: { uri, range: toEditorRange(related.range) }, message: related.message }],
    }),
  };
}

/** Converts a range that counts from 1 to one that counts from 0. */
export function toEditorRange({ line, column, endLine, endColumn }: Range): EditorRange {
  return {
    start: { line: line - 1, character: column - 1 },
    end: { line: endLine - 1, character: endColumn - 1 },
  };
}
