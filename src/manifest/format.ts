import { gapBetween, isIndicator, type SpacedToken } from './spacing.ts';
import type { YamlToken } from './yaml-tokens.ts';

const INDENT = 2;

/** A list or map in block style: the column that it begins in as it was written, and as it is laid out. */
interface Block {
  readonly kind: 'list' | 'map';
  readonly from: number;
  readonly to: number;
}

/** A line as it was written; a value over several lines is one piece of it. */
interface SourceLine {
  readonly column: number;
  readonly pieces: readonly SpacedToken[];
  /** Whether it begins inside of brackets. */
  readonly isInFlow: boolean;
}

/**
 * YAML text in the one layout: each block, a list in a map too, two columns further in; one space where one is needed;
 * one empty line at most; no white space at a line's end. Only white space differs, so every comment is kept, and what
 * the text means is the same.
 *
 * @param tokens of a text without `\r\n`
 */
export function formatYaml(tokens: readonly YamlToken[]): string {
  const out: string[] = [];
  const blocks: Block[] = [];
  let waiting: SourceLine[] = [];
  let header = '';
  for (const line of linesOf(tokens)) {
    const [first] = line.pieces;
    if (first === undefined || (first.kind === 'comment' && !line.isInFlow)) {
      waiting.push(line);
      continue;
    }
    if (first.kind === 'block-scalar') {
      out.push(renderBlockScalar(first.text, header, blocks.at(-1)));
      continue;
    }
    const open = [...blocks];
    const to = line.isInFlow ? Math.max(0, line.column + shiftOf(blocks.at(-1))) : indentOf(line, blocks);
    out.push(...waiting.map((one) => renderComment(one, open, line.column, to)), renderLine(line, to, blocks.at(-1)));
    waiting = [];
    header = line.pieces.find(({ kind }) => kind === 'block-scalar-header')?.text ?? '';
  }
  out.push(...waiting.map((one) => renderComment(one, blocks)));
  return collapseBlankLines(out)
    .map((line) => `${line}\n`)
    .join('');
}

function linesOf(tokens: readonly YamlToken[]): SourceLine[] {
  const lines: SourceLine[] = [];
  let pieces: SpacedToken[] = [];
  let gap = '';
  let depth = 0;
  let isInFlow = false;
  const end = () => {
    lines.push({ column: pieces[0]?.gap.length ?? 0, pieces, isInFlow });
    pieces = [];
    gap = '';
    isInFlow = depth > 0;
  };
  for (const token of tokens) {
    if (token.kind === 'newline') end();
    else if (token.kind === 'space') gap += token.text;
    else {
      pieces.push({ ...token, gap });
      gap = '';
      if (isIndicator(token, '{') || isIndicator(token, '[')) depth += 1;
      if (isIndicator(token, '}') || isIndicator(token, ']')) depth -= 1;
      // Its last line break is its own.
      if (token.kind === 'block-scalar') end();
    }
  }
  end();
  return lines;
}

/** The column of a line outside of brackets. What it ends leaves the open blocks, what it begins joins them. */
function indentOf({ column, pieces }: SourceLine, blocks: Block[]): number {
  let at = column;
  let to: number | undefined;
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'comment') break;
    if (index > 0) at += piece.gap.length;
    const entered = enterBlock(at, kindAt(pieces, index), blocks);
    to ??= entered;
    // What stands behind one of these on its line is a block of its own.
    if (!isIndicator(piece, '-') && !isIndicator(piece, '?') && !isIndicator(piece, ':')) break;
    at += piece.text.length;
  }
  return to ?? 0;
}

function kindAt(pieces: readonly SpacedToken[], index: number): Block['kind'] | undefined {
  const piece = pieces[index] as SpacedToken;
  if (isIndicator(piece, '-')) return 'list';
  if (isIndicator(piece, '?') || isIndicator(piece, ':')) return 'map';
  const isProperty = ({ kind, text }: SpacedToken) => kind === 'other' && /^[&!]/.test(text);
  const [node, next] = pieces.slice(index).filter((one) => !isProperty(one));
  const isKey = node !== undefined && (node.kind === 'scalar' || node.text.startsWith('*'));
  return isKey && next !== undefined && isIndicator(next, ':') ? 'map' : undefined;
}

function enterBlock(at: number, kind: Block['kind'] | undefined, blocks: Block[]): number {
  let top = blocks.at(-1);
  // A list may stand as far left as the key that it belongs to.
  const isOver = ({ from, kind: own }: Block) =>
    from > at || (from === at && own !== kind && !(own === 'map' && kind === 'list'));
  while (top !== undefined && isOver(top)) {
    blocks.pop();
    top = blocks.at(-1);
  }
  if (top?.from === at && top.kind === kind) return top.to;
  const to = top === undefined ? 0 : top.to + INDENT;
  if (kind !== undefined) blocks.push({ kind, from: at, to });
  return to;
}

/** What stands in brackets or quotes over several lines moves with the block around it. */
function shiftOf(block: Block | undefined): number {
  return block === undefined ? 0 : block.to - block.from;
}

function renderLine({ pieces }: SourceLine, to: number, block: Block | undefined): string {
  const shown = pieces.map((piece, index) => {
    const gap = index === 0 ? '' : gapBetween(pieces[index - 1] as SpacedToken, piece);
    return gap + (piece.kind === 'scalar' ? shiftScalar(piece.text, shiftOf(block)) : piece.text.trimEnd());
  });
  return ' '.repeat(to) + shown.join('');
}

function shiftScalar(scalar: string, shift: number): string {
  const [first = '', ...more] = scalar.split('\n');
  // A backslash keeps the space behind it.
  const end = (line: string) => line.replace(/(?<!\\)[ \t]+$/, '');
  if (more.length === 0) return first;
  const rest = more.map((line) => {
    const text = line.trimStart();
    return text === '' ? '' : ' '.repeat(Math.max(0, line.length - text.length + shift)) + text;
  });
  return [...[first, ...rest].slice(0, -1).map(end), rest.at(-1)].join('\n');
}

/** The lines below `|` or `>`; a digit in that header says how far in they stand, else the first of them does. */
function renderBlockScalar(text: string, header: string, block: Block | undefined): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const digit = Number(/[1-9]/.exec(header)?.[0] ?? 0);
  const first = lines.find((line) => line.trim() !== '') ?? '';
  const from = digit === 0 ? first.length - first.trimStart().length : (block?.from ?? 0) + digit;
  const to = (block?.to ?? -INDENT) + (digit === 0 ? INDENT : digit);
  const isShort = (line: string) => line.length <= from && line.trim() === '';
  return lines.map((line) => (isShort(line) ? '' : ' '.repeat(to) + line.slice(from))).join('\n');
}

/** A comment on a line of its own, or an empty line: a comment belongs to what is as far in as it is. */
function renderComment(
  { column, pieces }: SourceLine,
  open: readonly Block[],
  nextColumn?: number,
  nextTo?: number,
): string {
  const [piece] = pieces;
  if (piece === undefined) return '';
  const block = open.findLast(({ from }) => from === column);
  const outer = open.findLast(({ from }) => from <= column);
  const to = column === nextColumn ? nextTo : (block?.to ?? nextTo ?? outer?.to);
  return ' '.repeat(to ?? 0) + piece.text.trimEnd();
}

function collapseBlankLines(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => line !== '');
  return lines.slice(0, last + 1).filter((line, index) => line !== '' || (index > 0 && lines[index - 1] !== ''));
}
