import type { Path } from '../problem/finding.ts';
import type { TextEdit } from '../problem/problem.ts';
import { formatFlow } from './flow-yaml.ts';
import { endOfLine, type MemberRange, type MemberText, membersAt } from './member-ranges.ts';
import { removeMembers } from './member-removals.ts';
import { editOf } from './scalar-edits.ts';
import { BLOCK_LIST, BLOCK_MAP, FLOW_MAP, SCALAR } from './value-positions.ts';

/** A change of a member of a list or of a map: its removal, another value, or several copies of a list item in its place. */
export type MemberChange =
  | { readonly change: 'remove'; readonly path: Path }
  | {
      readonly change: 'set';
      readonly path: Path;
      readonly value: string | readonly string[];
      /** The key after which a new member is inserted. */
      readonly after: string;
    }
  | { readonly change: 'copy'; readonly path: Path; readonly copies: readonly (readonly MemberChange[])[] };

/**
 * Applies changes to a text. Comments and layout of all other members stay the same; the comments above a removed member go with it.
 *
 * @returns `undefined` if the text has no form that is safe to edit, such as a value behind an alias
 */
export function changeMembers(file: MemberText, changes: readonly MemberChange[]): string | undefined {
  const edits = editsOf(file, changes);
  return edits && applyEdits(file.text, edits, { start: 0, end: file.text.length });
}

function editsOf(file: MemberText, changes: readonly MemberChange[]): TextEdit[] | undefined {
  const edits: TextEdit[] = [];
  for (const change of changes) {
    if (change.change === 'remove') continue;
    const edit = change.change === 'set' ? editOfSet(file, change) : editOfCopies(file, change);
    if (edit === undefined) return undefined;
    edits.push(edit);
  }
  const removed = removeMembers(
    file,
    changes.flatMap(({ change, path }) => (change === 'remove' ? [path] : [])),
  );
  return removed && [...edits, ...removed].toSorted((a, b) => a.start - b.start);
}

/** Returns `undefined` if two edits overlap. */
function applyEdits(text: string, edits: readonly TextEdit[], { start, end }: MemberRange): string | undefined {
  let position = start;
  let changed = '';
  for (const edit of edits) {
    if (edit.start < position || edit.end > end) return undefined;
    changed += text.slice(position, edit.start) + edit.text;
    position = edit.end;
  }
  return changed + text.slice(position, end);
}

function editOfSet(file: MemberText, change: Extract<MemberChange, { change: 'set' }>): TextEdit | undefined {
  const { text, positions } = file;
  const { path, value } = change;
  const { row, depth } = positions.find(path, 'stop');
  if (depth < path.length) return depth === path.length - 1 ? editOfInsertion(file, change) : undefined;
  if (positions.kindOf(row) !== SCALAR) return undefined;
  if (typeof value === 'string') return editOf({ change: 'value', path, text: value }, file);
  const { start, end } = positions.valueOf(row);
  const written = text.slice(start, end);
  // A list in place of a variable would hide that the environment sets it.
  if (written.includes('${') || written.includes('\n')) return undefined;
  return { start, end, text: formatValue(value, isJson(file, path)) };
}

function editOfInsertion(
  file: MemberText,
  { path, value, after }: Extract<MemberChange, { change: 'set' }>,
): TextEdit | undefined {
  const { text, positions } = file;
  const map = positions.find(path.slice(0, -1), 'stop').row;
  const last = membersAt(file, path.slice(0, -1)).find(({ step }) => step === after);
  if (last === undefined) return undefined;
  const json = isJson(file, path);
  const key = json ? JSON.stringify(path.at(-1)) : String(path.at(-1));
  const member = `${key}: ${formatValue(value, json)}`;
  if (positions.kindOf(map) === FLOW_MAP) return { start: last.end, end: last.end, text: `, ${member}` };
  if (positions.kindOf(map) !== BLOCK_MAP) return undefined;
  const column = last.start - (text.lastIndexOf('\n', last.start - 1) + 1);
  const lineEnd = endOfLine(text, last.end);
  const indented = `${' '.repeat(column)}${member}\n`;
  return { start: lineEnd, end: lineEnd, text: text[lineEnd - 1] === '\n' ? indented : `\n${indented}` };
}

/** Replaces a list item by copies of it, each with its own changes. */
function editOfCopies(
  file: MemberText,
  { path, copies }: Extract<MemberChange, { change: 'copy' }>,
): TextEdit | undefined {
  const { text, positions } = file;
  const { row, parent, depth } = positions.find(path, 'stop');
  if (depth < path.length || parent === -1) return undefined;
  const isBlock = positions.kindOf(parent) === BLOCK_LIST;
  const value = positions.valueOf(row);
  const itemStart = isBlock ? text.lastIndexOf('\n', value.start - 1) + 1 : value.start;
  const itemEnd = isBlock ? endOfLine(text, positions.contentEndOf(row)) : value.end;
  const item = { start: itemStart, end: itemEnd };
  const texts: string[] = [];
  for (const changes of copies) {
    const edits = editsOf(file, changes);
    const copy = edits && applyEdits(text, edits, item);
    if (copy === undefined) return undefined;
    texts.push(isBlock && !copy.endsWith('\n') ? `${copy}\n` : copy);
  }
  return { ...item, text: texts.join(separator(file, item, isBlock)) };
}

/** Returns the text between two copies: an empty line for an item of several lines. */
function separator({ text }: MemberText, { start, end }: MemberRange, isBlock: boolean): string {
  if (isBlock) return text.slice(start, end).trimEnd().includes('\n') ? '\n' : '';
  const line = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  return /^\s+$/.test(line) ? `,\n${line}` : ', ';
}

/** True if the map that a path leads into has its keys in quotes, as JSON has. */
function isJson(file: MemberText, path: Path): boolean {
  const first = membersAt(file, path.slice(0, -1))[0];
  return first !== undefined && file.text[first.start] === '"';
}

function formatValue(value: string | readonly string[], json: boolean): string {
  if (!json) return formatFlow(value);
  return typeof value === 'string'
    ? JSON.stringify(value)
    : `[${value.map((item) => JSON.stringify(item)).join(', ')}]`;
}
