/** The offsets of a member in block style; `end` is exclusive. */
interface BlockRange {
  readonly start: number;
  readonly end: number;
}

interface BlockMember {
  /** True for an item of a list, which begins with a dash. */
  readonly isItem: boolean;
  /** True if the comments above always belong to the member: those above a line of a group may describe the group. */
  readonly ownsComments: boolean;
}

const COMMENT = /^\s*#/;
const KEY_LINE = /:\s*(?:#.*)?$/;
const BLANK = /^\s*$/;
/** It must not apply to the next member. */
const DIRECTIVE = /^\s*#\s*gateway-disable/;

/**
 * Returns the complete lines of a member, with the comments that belong to it: those after it that are indented more, and those
 * directly above it. `undefined` if another member is on its first line.
 */
export function blockRegion(
  text: string,
  member: BlockRange,
  { isItem, ownsComments }: BlockMember,
): BlockRange | undefined {
  const lineStart = text.lastIndexOf('\n', member.start - 1) + 1;
  const prefix = text.slice(lineStart, member.start);
  if (!(isItem ? /^ *- +(?:[&!]\S+ +)*$/ : /^ *$/).test(prefix)) return undefined;
  const indent = prefix.length - prefix.trimStart().length;
  const contentEnd = text[member.end - 1] === '\n' ? member.end : lineEndAfter(text, member.end);
  const end = skipDeeperComments(text, contentEnd, indent);
  const isOneLine = contentEnd === lineEndAfter(text, lineStart);
  const isGrouped = !ownsComments && isOneLine && isSibling(lineAt(text, end), indent);
  const start = startWithComments(text, lineStart, isGrouped ? DIRECTIVE : COMMENT);
  return { start, end: skipBlankLine(text, start, end) };
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start);
  return text.slice(start, end === -1 ? text.length : end);
}

function lineEndAfter(text: string, offset: number): number {
  const lineBreak = text.indexOf('\n', offset);
  return lineBreak === -1 ? text.length : lineBreak + 1;
}

function isSibling(line: string, indent: number): boolean {
  return !BLANK.test(line) && !COMMENT.test(line) && isDeepEnough(line, indent);
}

function isDeepEnough(line: string, indent: number): boolean {
  return line.length - line.trimStart().length >= indent;
}

function skipDeeperComments(text: string, start: number, indent: number): number {
  let end = start;
  while (end < text.length && COMMENT.test(lineAt(text, end)) && isDeepEnough(lineAt(text, end), indent + 1))
    end = lineEndAfter(text, end);
  return end;
}

function startWithComments(text: string, lineStart: number, own: RegExp): number {
  let start = lineStart;
  while (start > 0) {
    const previous = text.lastIndexOf('\n', start - 2) + 1;
    if (!own.test(lineAt(text, previous))) break;
    start = previous;
  }
  // The comment at the start of a file is about the file.
  return start === 0 ? lineStart : start;
}

/** Without this, a member between two empty lines leaves both, and the first one of a block leaves one. */
function skipBlankLine(text: string, start: number, end: number): number {
  const before = start === 0 ? '' : lineAt(text, text.lastIndexOf('\n', start - 2) + 1);
  return (BLANK.test(before) || KEY_LINE.test(before)) && end < text.length && BLANK.test(lineAt(text, end))
    ? lineEndAfter(text, end)
    : end;
}
