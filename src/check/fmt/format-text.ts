import { isDeepStrictEqual } from 'node:util';
import { parse } from '../../engine/manifest/document.ts';
import type { Source } from '../../engine/manifest/source.ts';
import { isIndicator, tokenize, type YamlToken } from '../../engine/manifest/yaml-text.ts';
import { type Problem, toProblems } from '../../engine/problem/problem.ts';

const INDENT = 2;

/** A token with the white space before it on its line. */
interface SpacedToken extends YamlToken {
  readonly gap: string;
}

/** A list or map in block style: its original column and its formatted column. */
interface Block {
  readonly kind: 'list' | 'map';
  readonly from: number;
  readonly to: number;
}

/** A line of the text. A value over several lines is one token of its first line. */
interface SourceLine {
  readonly column: number;
  readonly tokens: readonly SpacedToken[];
  /** True if it begins inside brackets. */
  readonly isInFlow: boolean;
}

/** Formats the text of a file as `formatYaml` does, with the line ends of most of its lines. Removes the byte order mark. */
export function formatText(text: string): string {
  const formatted = formatYaml(tokenize(text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')));
  const isCrlf = text.split('\r\n').length > text.split(/(?<!\r)\n/).length;
  return isCrlf ? formatted.replaceAll('\n', '\r\n') : formatted;
}

/**
 * Formats YAML tokens without `\r\n`: indents each block by two columns, including a list in a map; writes one space where one is needed,
 * at most one empty line, and no white space at the end of a line. Changes white space only.
 */
export function formatYaml(tokens: readonly YamlToken[]): string {
  const out: string[] = [];
  const blocks: Block[] = [];
  let pending: SourceLine[] = [];
  let header = '';
  for (const line of linesOf(tokens)) {
    const [first] = line.tokens;
    if (first === undefined || (first.kind === 'comment' && !line.isInFlow)) {
      pending.push(line);
      continue;
    }
    if (first.kind === 'block-scalar') {
      out.push(renderBlockScalar(first.text, header, blocks.at(-1)));
      continue;
    }
    const open = [...blocks];
    const to = line.isInFlow ? Math.max(0, line.column + shiftOf(blocks.at(-1))) : indentOf(line, blocks);
    out.push(
      ...pending.map((comment) => renderComment(comment, open, line.column, to)),
      renderLine(line, to, blocks.at(-1)),
    );
    pending = [];
    header = line.tokens.find(({ kind }) => kind === 'block-scalar-header')?.text ?? '';
  }
  out.push(...pending.map((comment) => renderComment(comment, blocks)));
  return collapseBlankLines(out)
    .map((line) => `${line}\n`)
    .join('');
}

function linesOf(tokens: readonly YamlToken[]): SourceLine[] {
  const lines: SourceLine[] = [];
  let lineTokens: SpacedToken[] = [];
  let gap = '';
  let depth = 0;
  let isInFlow = false;
  const end = () => {
    lines.push({ column: lineTokens[0]?.gap.length ?? 0, tokens: lineTokens, isInFlow });
    lineTokens = [];
    gap = '';
    isInFlow = depth > 0;
  };
  for (const token of tokens) {
    if (token.kind === 'newline') end();
    else if (token.kind === 'space') gap += token.text;
    else {
      lineTokens.push({ ...token, gap });
      gap = '';
      if (isIndicator(token, '{') || isIndicator(token, '[')) depth += 1;
      if (isIndicator(token, '}') || isIndicator(token, ']')) depth -= 1;
      // A block scalar includes its last line break.
      if (token.kind === 'block-scalar') end();
    }
  }
  end();
  return lines;
}

/** Returns the formatted column of a line outside brackets. Removes the blocks that the line ends, and adds those that it begins. */
function indentOf({ column, tokens }: SourceLine, blocks: Block[]): number {
  let at = column;
  let to: number | undefined;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'comment') break;
    if (index > 0) at += token.gap.length;
    const entered = enterBlock(at, kindAt(tokens, index), blocks);
    to ??= entered;
    // The rest of the line after one of these is a nested block.
    if (!isIndicator(token, '-') && !isIndicator(token, '?') && !isIndicator(token, ':')) break;
    at += token.text.length;
  }
  return to ?? 0;
}

function kindAt(tokens: readonly SpacedToken[], index: number): Block['kind'] | undefined {
  const token = tokens[index] as SpacedToken;
  if (isIndicator(token, '-')) return 'list';
  if (isIndicator(token, '?') || isIndicator(token, ':')) return 'map';
  const isProperty = ({ kind, text }: SpacedToken) => kind === 'other' && /^[&!]/.test(text);
  const [node, next] = tokens.slice(index).filter((other) => !isProperty(other));
  const isKey = node !== undefined && (node.kind === 'scalar' || node.text.startsWith('*'));
  return isKey && next !== undefined && isIndicator(next, ':') ? 'map' : undefined;
}

function enterBlock(at: number, kind: Block['kind'] | undefined, blocks: Block[]): number {
  let top = blocks.at(-1);
  // A list may have the column of its key.
  const hasEnded = ({ from, kind: own }: Block) =>
    from > at || (from === at && own !== kind && !(own === 'map' && kind === 'list'));
  while (top !== undefined && hasEnded(top)) {
    blocks.pop();
    top = blocks.at(-1);
  }
  if (top?.from === at && top.kind === kind) return top.to;
  const to = top === undefined ? 0 : top.to + INDENT;
  if (kind !== undefined) blocks.push({ kind, from: at, to });
  return to;
}

/** Returns how far a block moves. Values in brackets or quotes over several lines move with it. */
function shiftOf(block: Block | undefined): number {
  return block === undefined ? 0 : block.to - block.from;
}

function renderLine({ tokens }: SourceLine, to: number, block: Block | undefined): string {
  const texts = tokens.map((token, index) => {
    const gap = index === 0 ? '' : gapBetween(tokens[index - 1] as SpacedToken, token);
    return gap + (token.kind === 'scalar' ? shiftScalar(token.text, shiftOf(block)) : token.text.trimEnd());
  });
  return ' '.repeat(to) + texts.join('');
}

/** The space between two tokens of a line, by the first matching row; `undefined` keeps it. */
const GAPS: readonly (readonly [
  matches: (left: SpacedToken, right: SpacedToken) => boolean,
  gap: string | undefined,
])[] = [
  // Comments may be aligned.
  [(_, right) => right.kind === 'comment', undefined],
  [(_, right) => isIndicator(right, ',') || isIndicator(right, ':'), ''],
  [(left) => isIndicator(left, ':') || isIndicator(left, '-') || isIndicator(left, '?'), ' '],
  [(left, right) => isIndicator(left, '{') && isIndicator(right, '}'), ''],
  [(left, right) => isIndicator(left, '[') || isIndicator(right, ']'), ''],
  [(left, right) => isIndicator(left, '{') || isIndicator(right, '}') || isIndicator(left, ','), ' '],
];

function gapBetween(left: SpacedToken, right: SpacedToken): string {
  const row = GAPS.find(([matches]) => matches(left, right));
  return row?.[1] ?? (row === undefined && right.gap !== '' ? ' ' : right.gap);
}

function shiftScalar(scalar: string, shift: number): string {
  const [first = '', ...more] = scalar.split('\n');
  // A backslash keeps the space after it.
  const trimEnd = (line: string) => line.replace(/(?<!\\)[ \t]+$/, '');
  if (more.length === 0) return first;
  const rest = more.map((line) => {
    const text = line.trimStart();
    return text === '' ? '' : ' '.repeat(Math.max(0, line.length - text.length + shift)) + text;
  });
  return [...[first, ...rest].slice(0, -1).map(trimEnd), rest.at(-1)].join('\n');
}

/** Renders the lines below `|` or `>`. A digit in that header is their indentation; without a digit, the first line sets it. */
function renderBlockScalar(text: string, header: string, block: Block | undefined): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const digit = Number(/[1-9]/.exec(header)?.[0] ?? 0);
  const first = lines.find((line) => line.trim() !== '') ?? '';
  const from = digit === 0 ? first.length - first.trimStart().length : (block?.from ?? 0) + digit;
  const to = (block?.to ?? -INDENT) + (digit === 0 ? INDENT : digit);
  const isShort = (line: string) => line.length <= from && line.trim() === '';
  return lines.map((line) => (isShort(line) ? '' : ' '.repeat(to) + line.slice(from))).join('\n');
}

/** Renders a comment line or an empty line. A comment belongs to the block with the same column. */
function renderComment({ column, tokens }: SourceLine, open: readonly Block[], nextColumn?: number, nextTo?: number) {
  const [token] = tokens;
  if (token === undefined) return '';
  const block = open.findLast(({ from }) => from === column);
  const outer = open.findLast(({ from }) => from <= column);
  const to = column === nextColumn ? nextTo : (block?.to ?? nextTo ?? outer?.to);
  return ' '.repeat(to ?? 0) + token.text.trimEnd();
}

function collapseBlankLines(lines: readonly string[]): string[] {
  const last = lines.findLastIndex((line) => line !== '');
  return lines.slice(0, last + 1).filter((line, index) => line !== '' || (index > 0 && lines[index - 1] !== ''));
}

/** `isChanged`: formatting would change the meaning of the text, which is a bug of the formatter. */
type FormatResult =
  | { readonly text: string }
  | { readonly problems: readonly Problem[] }
  | { readonly isChanged: true };

/** Formats a file. Returns the problems of a text that is not valid YAML. */
export function formatSource({ path, text }: Source): FormatResult {
  const { document, findings } = parse({ path, text });
  if (findings.length > 0) return { problems: toProblems(findings, document) };
  const formatted = formatText(text);
  const after = parse({ path, text: formatted });
  const isSame = after.findings.length === 0 && isDeepStrictEqual(after.document.value, document.value);
  return isSame ? { text: formatted } : { isChanged: true };
}
