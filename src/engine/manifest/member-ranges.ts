import type { Path } from '../problem/finding.ts';
import { BLOCK_LIST, BLOCK_MAP, type ValuePositions } from './value-positions.ts';
import type { YamlValue } from './yaml-values.ts';

/** The parsed text of one file. */
export interface MemberText {
  readonly text: string;
  readonly value: YamlValue;
  readonly positions: ValuePositions;
}

/** A member and the offsets of its text: of a map, from its key on. `end` is exclusive and never in the white space after it. */
export interface MemberRange {
  readonly start: number;
  readonly end: number;
}

export interface Member extends MemberRange {
  readonly step: string | number;
}

/** Returns the members of a list or a map in the order of the text; none if it is behind an alias. */
export function membersAt(file: MemberText, path: Path): Member[] {
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

function stepsOf(file: MemberText, path: Path): (string | number)[] {
  let value: YamlValue | undefined = file.value;
  for (const step of path) value = (value as Record<string | number, YamlValue> | null)?.[step];
  if (Array.isArray(value)) return [...value.keys()];
  return isMap(value) ? Object.keys(value) : [];
}

/** Returns the end of the line, with its line break, in which a value ends; a block scalar ends after its line break. */
export function endOfLine(text: string, end: number): number {
  if (end > 0 && text[end - 1] === '\n') return end;
  const lineBreak = text.indexOf('\n', end);
  return lineBreak === -1 ? text.length : lineBreak + 1;
}

export function isMap(value: YamlValue | undefined): value is { readonly [key: string]: YamlValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
