import { type CodeLens, type DocumentSymbol, SymbolKind } from 'vscode-languageserver';
import type { OffsetRange } from '../engine/manifest/value-positions.ts';
import { memberTexts, rowsAt } from './names.ts';
import { rangeIn, type TextFile } from './text-file.ts';

/** The parts of a file whose members an outline shows, by their keys. */
const PARTS: Readonly<Record<string, SymbolKind>> = {
  upstreams: SymbolKind.Module,
  stores: SymbolKind.Module,
  rateLimits: SymbolKind.Constant,
  schemas: SymbolKind.Struct,
  routes: SymbolKind.Method,
  invariants: SymbolKind.Boolean,
  tokens: SymbolKind.Key,
  cases: SymbolKind.Event,
};

/** Returns the outline of a file: its top-level keys, and the members of the parts that have names. */
export function documentSymbols(file: TextFile): DocumentSymbol[] {
  const { positions } = file.parsed;
  return [...positions.members(0)].map(({ step, row }) => {
    const kind = PARTS[String(step)];
    const members = kind === undefined ? [] : [...positions.members(row)];
    const children = members.map((member) => memberSymbol(file, member, kind ?? SymbolKind.Key));
    return { ...symbolAt(file, row), name: shownName([step]), kind: SymbolKind.Namespace, children };
  });
}

function memberSymbol(
  file: TextFile,
  { step, row }: { readonly step: string | number; readonly row: number },
  kind: SymbolKind,
): DocumentSymbol {
  const member = memberTexts(file, row);
  const name = shownName(typeof step === 'string' ? [step] : [member('id'), member('name'), step + 1]);
  const detail = [member('method'), member('path')].filter((text) => text !== undefined).join(' ');
  return { ...symbolAt(file, row), name, kind, ...(detail !== '' && { detail }) };
}

/** Returns the first name that is not empty: for an empty one, VS Code shows no outline at all. */
function shownName(names: readonly (string | number | undefined)[]): string {
  return String(names.find((name) => name !== undefined && name !== '') ?? '""');
}

function symbolAt(file: TextFile, row: number): Pick<DocumentSymbol, 'range' | 'selectionRange'> {
  const { positions } = file.parsed;
  const value = positions.valueOf(row);
  const key = positions.keyOf(row);
  const selection: OffsetRange = key ?? { start: value.start, end: value.start };
  const end = Math.max(selection.end, positions.contentEndOf(row));
  return { range: rangeIn(file, { start: selection.start, end }), selectionRange: rangeIn(file, selection) };
}

/** Returns a line above each public route, which says that anyone may call it. */
export function publicRouteLenses(file: TextFile): CodeLens[] {
  return [...rowsAt(file.parsed.positions, ['routes', '*'])].flatMap((route) => {
    const member = memberTexts(file, route);
    if (member('access') !== 'public') return [];
    const range = rangeIn(file, file.parsed.positions.valueOf(route));
    const request = [member('method'), member('path')].filter((text) => text !== undefined).join(' ');
    const title = `Public: no token is needed for ${request}`;
    // Without a command, editors show the title and nothing happens on a click.
    return [{ range: { start: range.start, end: range.start }, command: { title, command: '' } }];
  });
}
