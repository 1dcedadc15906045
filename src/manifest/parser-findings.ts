import type { Finding } from '../problem/finding.ts';
import { findLookAlikeNear } from './look-alikes.ts';
import { syntaxError, syntaxMessage } from './syntax-error.ts';
import { findUnsupportedSyntax } from './unsupported-syntax.ts';
import { tokenize, type YamlToken } from './yaml-tokens.ts';
import { type OffsetRange, openerBefore, type YamlRoot } from './yaml-tree.ts';

/** An error of the YAML parser. */
interface ParserError {
  readonly code: string;
  readonly message: string;
  /** Offsets in UTF-16 code units. */
  readonly pos: readonly [start: number, end: number];
}

interface ParserResult {
  readonly errors: readonly ParserError[];
  readonly warnings: readonly ParserError[];
  readonly text: string;
  readonly root: YamlRoot;
}

/**
 * Reports the first error only, since the parser guesses after it, or the tags and directives before it. Without an error,
 * reports all warnings except the one about a closing bracket at the indentation of its key, which is not ambiguous.
 */
export function parserFindings({ errors, warnings, text, root }: ParserResult): Finding[] {
  const [first] = errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const unsupported = findUnsupportedSyntax(text).filter(
    ({ location }) => first === undefined || ('start' in location && location.start <= first.pos[0]),
  );
  if (unsupported.length > 0) return unsupported;
  if (first !== undefined) return [explain(first, text, root)];
  return warnings
    .filter(({ code }) => code !== 'BAD_INDENT')
    .map(({ code, message, pos: [start, end] }) =>
      syntaxError(start, end, syntaxMessage(code, message, text.slice(start, end))),
    );
}

/** Finds the cause of an error: the parser reports only where it could not go on. */
function explain(error: ParserError, text: string, root: YamlRoot): Finding {
  const { code, message, pos } = error;
  const cause = findLateQuote(pos[0], text) ?? findLookAlikeNear(text, pos[0]) ?? findBracketInValue(pos[0], text);
  if (cause !== undefined) return cause;
  const { start, end } = unclosedOpener(error, root) ?? withoutIndent(error, text);
  return syntaxError(start, end, syntaxMessage(code, message, text.slice(start, start + 100)));
}

/** Finds a quote that is closed on a later line, just before an error: it is another quote that closes it. */
function findLateQuote(offset: number, text: string): Finding | undefined {
  let start = 0;
  for (const token of tokenize(text)) {
    const end = start + token.text.length;
    if (start < offset && end > text.lastIndexOf('\n', offset - 1) && isQuotedOverLines(token)) {
      const line = text.slice(0, end).split('\n').length;
      const message = `this quote is closed on line ${line} only; write the missing ${token.text[0]} before that`;
      return syntaxError(start, start + 1, message);
    }
    if (start >= offset) return undefined;
    start = end;
  }
  return undefined;
}

function isQuotedOverLines({ kind, text }: YamlToken): boolean {
  return kind === 'scalar' && /^(["'])[^]*\n[^]*\1$/.test(text);
}

/** A value without quotes, up to the first bracket, and with the brackets inside of it. */
const WITH_BRACKET = /[^\s,[\]{}"'](?:[^\s,[\]{}]*)(?:[{[][^\s,[\]{}]*[}\]][^\s,[\]{}]*)+/gy;

/** Finds a value inside brackets that contains brackets without quotes: `{ path: /one/{id} }`. */
function findBracketInValue(offset: number, text: string): Finding | undefined {
  if (!/[{[]/.test(text[offset] ?? '') || !/[^\s,[\]{}:]/.test(text[offset - 1] ?? '')) return undefined;
  const start = text.slice(0, offset).search(/[^\s,[\]{}"']*$/);
  WITH_BRACKET.lastIndex = start;
  const [value] = WITH_BRACKET.exec(text) ?? [];
  if (value === undefined) return undefined;
  const message = `a value with ${text[offset]} needs quotes inside brackets; write "${value}"`;
  return syntaxError(start, start + value.length, message);
}

/** Finds the bracket or quote that is never closed. The parser only reports where its search for the closing one ended. */
function unclosedOpener({ code, message, pos }: ParserError, root: YamlRoot): OffsetRange | undefined {
  if (code === 'MISSING_CHAR' && message.startsWith('Missing closing')) return openerBefore(root, pos[0], 'quote');
  return /^(?:flow|expected flow) .* end with/i.test(message) ? openerBefore(root, pos[0], 'bracket') : undefined;
}

function withoutIndent({ code, pos }: ParserError, text: string): OffsetRange {
  let [start] = pos;
  if (code !== 'TAB_AS_INDENT') while (text[start] === ' ') start += 1;
  return { start, end: Math.max(start + 1, pos[1]) };
}
