import type { Path } from '../problem/finding.ts';
import type { TextEdit } from '../problem/problem.ts';
import { blockRegion } from './block-region.ts';
import { isMap, type MemberRange, type MemberText, membersAt } from './member-ranges.ts';
import { BLOCK_LIST, BLOCK_MAP, FLOW_LIST, FLOW_MAP } from './value-positions.ts';

/** Returns the edits of all removals. Those of one list are found together, since they share its commas. */
export function removeMembers(file: MemberText, removed: readonly Path[]): TextEdit[] | undefined {
  const byParent = new Map<string, Path[]>();
  for (const path of removed) {
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
