import type { Path } from '../problem/finding.ts';
import type { TextEdit } from '../problem/problem.ts';
import { blockRegion } from './block-region.ts';
import { formatFlow } from './flow-yaml.ts';
import { editOf } from './scalar-edits.ts';
import { BLOCK_LIST, BLOCK_MAP, FLOW_LIST, FLOW_MAP, SCALAR, type ValuePositions } from './value-positions.ts';
import type { YamlValue } from './yaml-values.ts';

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

/** The parsed text of one file. */
export interface MemberText {
  readonly text: string;
  readonly value: YamlValue;
  readonly positions: ValuePositions;
}

/** A member and the offsets of its text: of a map, from its key on. `end` is exclusive and never in the white space after it. */
interface MemberRange {
  readonly start: number;
  readonly end: number;
}

interface Member extends MemberRange {
  readonly step: string | number;
}

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
  const removed = removals(file, changes);
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

/** Returns the edits of all removals. Those of one list are found together, since they share its commas. */
function removals(file: MemberText, changes: readonly MemberChange[]): TextEdit[] | undefined {
  const byParent = new Map<string, Path[]>();
  for (const { change, path } of changes) {
    if (change !== 'remove') continue;
    const key = JSON.stringify(path.slice(0, -1));
    byParent.set(key, [...(byParent.get(key) ?? []), path]);
  }
  const edits: TextEdit[] = [];
  for (const [key, paths] of byParent) {
    const own = removalsFrom(file, JSON.parse(key), paths);
    if (own === undefined) return undefined;
    edits.push(...own);
  }
  return edits;
}

function removalsFrom(file: MemberText, parentPath: Path, paths: readonly Path[]): TextEdit[] | undefined {
  const { text, positions } = file;
  const members = membersAt(file, parentPath);
  const indexes = paths.map((path) => members.findIndex(({ step }) => step === path.at(-1))).toSorted((a, b) => a - b);
  const { row, depth } = positions.find(parentPath, 'stop');
  if (depth < parentPath.length || indexes.some((index) => members[index] === undefined)) return undefined;
  const kind = positions.kindOf(row);
  if (indexes.length === members.length) return removalOfAll(file, parentPath);
  if (kind === FLOW_LIST || kind === FLOW_MAP) return flowRemovals(members, indexes);
  const isEntryKey = kind === BLOCK_MAP && parentPath.length >= 2;
  const edits: TextEdit[] = [];
  for (const index of indexes) {
    const member = members[index] as MemberRange;
    const region = blockRegion(text, member, { isItem: kind === BLOCK_LIST, ownsComments: isEntryKey });
    const next = members[index + 1];
    // The first key of a list item is on the line of its dash.
    const range = region ?? (kind === BLOCK_MAP && next !== undefined && { start: member.start, end: next.start });
    if (!range) return undefined;
    edits.push({ ...range, text: '' });
  }
  return edits;
}

/** Removes the key of a collection that has no members left; a list of routes stays, as an empty list. */
function removalOfAll(file: MemberText, path: Path): TextEdit[] | undefined {
  const { positions, text, value } = file;
  const siblings = path.length === 1 && isMap(value) ? Object.keys(value).length : 0;
  if (siblings > 1 && path[0] !== 'routes') return removalsFrom(file, [], [path]);
  const { row } = positions.find(path, 'stop');
  const key = positions.keyOf(row);
  if (key === undefined) return undefined;
  const colon = text.indexOf(':', key.end);
  const isList = positions.kindOf(row) === BLOCK_LIST || positions.kindOf(row) === FLOW_LIST;
  return [{ start: colon + 1, end: positions.contentEndOf(row), text: isList ? ' []' : ' {}' }];
}

/** Returns one edit for each run of neighbours, with the commas that it makes superfluous. */
function flowRemovals(members: readonly MemberRange[], indexes: readonly number[]): TextEdit[] {
  const edits: TextEdit[] = [];
  for (let at = 0; at < indexes.length; at += 1) {
    const first = indexes[at] as number;
    while (indexes[at + 1] === (indexes[at] as number) + 1) at += 1;
    const last = indexes[at] as number;
    const next = members[last + 1];
    const start = (members[first] as MemberRange).start;
    if (next !== undefined) edits.push({ start, end: next.start, text: '' });
    else
      edits.push({
        start: (members[first - 1] as MemberRange).end,
        end: (members[last] as MemberRange).end,
        text: '',
      });
  }
  return edits;
}

function stepsOf(file: MemberText, path: Path): (string | number)[] {
  let value: YamlValue | undefined = file.value;
  for (const step of path) value = (value as Record<string | number, YamlValue> | null)?.[step];
  if (Array.isArray(value)) return [...value.keys()];
  return isMap(value) ? Object.keys(value) : [];
}

/** Returns the members of a list or a map in the order of the text; none if it is behind an alias. */
function membersAt(file: MemberText, path: Path): Member[] {
  const { positions } = file;
  const found = stepsOf(file, path).map((step) => ({ step, ...positions.find([...path, step], 'stop') }));
  if (found.some(({ depth }) => depth <= path.length)) return [];
  const members = found.map(({ step, row }) => {
    const value = positions.valueOf(row);
    const isBlock = positions.kindOf(row) === BLOCK_LIST || positions.kindOf(row) === BLOCK_MAP;
    const end = isBlock ? positions.contentEndOf(row) : value.end;
    return { step, start: positions.keyOf(row)?.start ?? value.start, end };
  });
  return members.toSorted((a, b) => a.start - b.start);
}

/** Returns the end of the line, with its line break, in which a value ends; a block scalar ends after its line break. */
function endOfLine(text: string, end: number): number {
  if (end > 0 && text[end - 1] === '\n') return end;
  const lineBreak = text.indexOf('\n', end);
  return lineBreak === -1 ? text.length : lineBreak + 1;
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

function isMap(value: YamlValue | undefined): value is { readonly [key: string]: YamlValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
