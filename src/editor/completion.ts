import { type CompletionItem, CompletionItemKind } from 'vscode-languageserver';
import { parseText } from '../engine/manifest/document.ts';
import { replaceScalar } from '../engine/manifest/yaml-text.ts';
import { roleOf } from './file-links.ts';
import { findDefinitions, KIND_LABELS, type NameKind, nameKindAt } from './names.ts';
import type { Project } from './project.ts';
import { rangeIn, type TextFile } from './text-file.ts';

interface TypedValue {
  readonly kind: NameKind;
  /** True if a list of names belongs here. */
  readonly isList: boolean;
  /** True if it is in quotes already. */
  readonly isQuoted: boolean;
  /** The offsets of the typed part, which a name replaces. */
  readonly start: number;
  readonly end: number;
}

const ITEM_KINDS: Readonly<Record<NameKind, CompletionItemKind>> = {
  upstream: CompletionItemKind.Module,
  schema: CompletionItemKind.Struct,
  rateLimit: CompletionItemKind.Unit,
  store: CompletionItemKind.Module,
  role: CompletionItemKind.EnumMember,
  issuer: CompletionItemKind.Module,
  route: CompletionItemKind.Reference,
};

/** Returns the names that are valid at an offset. Keys and other values are left to a server for YAML with the schema. */
export function completeNames(file: TextFile, offset: number, projects: readonly Project[]): CompletionItem[] {
  const typed = schemaReferenceBefore(file.text, offset) ?? typedNameAt(file, offset);
  if (typed === undefined) return [];
  const names = findDefinitions(projects).filter(({ kind }) => kind === typed.kind);
  const range = rangeIn(file, typed);
  return [...new Set(names.map(({ name }) => name))].map((name) => {
    const newText = textOf(name, typed);
    return {
      label: name,
      kind: ITEM_KINDS[typed.kind],
      detail: KIND_LABELS[typed.kind],
      filterText: newText,
      textEdit: { range, newText },
    };
  });
}

function textOf(name: string, { kind, isList, isQuoted }: TypedValue): string {
  if (kind === 'schema') return isQuoted ? `#/schemas/${name}` : `'#/schemas/${name}'`;
  if (isQuoted) return name;
  const scalar = replaceScalar('', { start: 0, end: 0, isInFlow: true }, name)?.text ?? name;
  return isList ? `[${scalar}]` : scalar;
}

/** The typed part ends at the name: a pointer into the schema may follow. */
const TYPED_REFERENCE = /(?:^|[\s{,])["']?\$ref["']?\s*:\s+(["']?)((?:#?\/?\w*|#\/schemas\/)[\w.-]*)$/;

/** Finds a reference to a schema by its text: without quotes, YAML reads it as a comment. */
function schemaReferenceBefore(text: string, offset: number): TypedValue | undefined {
  const match = TYPED_REFERENCE.exec(lineBefore(text, offset));
  if (match === null) return undefined;
  const [, quote, typed = ''] = match;
  const [rest = ''] = (typed.includes('schemas/') ? /^[\w.-]*/ : /^[#/\w.-]*/).exec(text.slice(offset)) ?? [];
  const span = { start: offset - typed.length, end: offset + rest.length };
  return { ...span, kind: 'schema', isList: false, isQuoted: quote !== '' };
}

function lineBefore(text: string, offset: number): string {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
}

/** Parses the text with a letter at the offset, if there is none, and looks what the value at this place names. */
function typedNameAt(file: TextFile, offset: number): TypedValue | undefined {
  const { text } = file;
  const role = roleOf(file);
  if (role === undefined) return undefined;
  const [before = ''] = /[\w.-]*$/.exec(lineBefore(text, offset)) ?? [];
  const [after = ''] = /^[\w.-]*/.exec(text.slice(offset)) ?? [];
  const start = offset - before.length;
  const end = offset + after.length;
  const { positions } = start < end ? file.parsed : parseText(`${text.slice(0, offset)}x${text.slice(offset)}`);
  const path = positions.pathAt(start);
  const { row, depth } = positions.find(path, 'stop');
  const value = positions.valueOf(row);
  if (depth < path.length || value.start > start || value.end < start) return undefined;
  const kind = nameKindAt(role, path);
  return kind && { ...kind, isQuoted: /["']/.test(text[start - 1] ?? ''), start, end };
}
