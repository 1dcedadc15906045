import { isCollection, isScalar, type Node, parseDocument, visit, type YAMLError } from 'yaml';
import type { Finding } from '../problem/finding.ts';
import { findLookAlikeNear } from './look-alikes.ts';
import { misindentedLine } from './misindented-line.ts';
import { syntaxError, syntaxMessage } from './syntax-error.ts';
import type { OffsetRange } from './value-positions.ts';
import { tokenize, type YamlToken } from './yaml-text.ts';
import { MAX_DEPTH } from './yaml-values.ts';

const PARSER_OPTIONS = {
  prettyErrors: false,
  version: '1.2',
  // The parser would compare every pair of keys; `readValues` finds duplicates in linear time.
  uniqueKeys: false,
  merge: false,
} as const;

/** Parses YAML text into a tree. Never throws, even for invalid text. */
export function parseTree(text: string): { root: Node | null; findings: Finding[] } {
  try {
    const parsed = withoutStackTraces(() => parseDocument(text, PARSER_OPTIONS));
    return { root: parsed.contents, findings: parserFindings(parsed, text) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `the manifest is nested too deeply; at most ${MAX_DEPTH} levels are read`;
    return { root: null, findings: [syntaxError(0, 0, message)] };
  }
}

/** Runs a parser that may create hundreds of thousands of errors. Their stack traces would take most of its time and memory. */
function withoutStackTraces<T>(parse: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parse();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** An error of the YAML parser. Its offsets are UTF-16 code units. */
type ParserError = Pick<YAMLError, 'code' | 'message' | 'pos'>;

/**
 * Reports the first error only, since the parser guesses after it, or the tags and directives before it. Without an error,
 * reports all warnings except the one about a closing bracket at the indentation of its key, which is not ambiguous.
 */
function parserFindings(
  { contents: root, errors, warnings }: { contents: Node | null; errors: ParserError[]; warnings: ParserError[] },
  text: string,
): Finding[] {
  const first = firstError(errors, text);
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

/**
 * Returns the first error. The parser takes a map in brackets for a key if the text after its first closing bracket is not valid:
 * the next error, inside the map, then has the place.
 */
function firstError(errors: readonly ParserError[], text: string): ParserError | undefined {
  const [first, second] = errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const isBracketKey = first?.code === 'MULTILINE_IMPLICIT_KEY' && /[{[]/.test(text[first.pos[0]] ?? '');
  return isBracketKey ? (second ?? first) : first;
}

/** Finds the cause of an error: the parser reports only where it could not go on. */
function explain(error: ParserError, text: string, root: Node | null): Finding {
  const { code, message, pos } = error;
  const tokens = tokenize(text);
  const cause =
    findLateQuote(pos[0], text, tokens) ??
    findLookAlikeNear(text, pos[0], tokens) ??
    findBracketInValue(pos[0], text) ??
    findContinuedValue(error, text, tokens) ??
    findKeyBesideItems(error, text) ??
    findMisindentedLine(error, text);
  if (cause !== undefined) return cause;
  const { start, end } = unclosedOpener(error, root) ?? withoutIndent(error, text);
  return syntaxError(start, end, syntaxMessage(code, message, text.slice(start, start + 100)));
}

/** Finds a quote that is closed on a later line, just before an error: another quote closes it. */
function findLateQuote(offset: number, text: string, tokens: readonly YamlToken[]): Finding | undefined {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const quote = tokens.find(
    (token) => token.start < offset && token.start + token.text.length >= lineStart && isQuotedOverLines(token),
  );
  if (quote === undefined) return undefined;
  const line = text.slice(0, quote.start + quote.text.length).split('\n').length;
  const message = `this quote is closed on line ${line} only; write the missing ${quote.text[0]} before that`;
  return syntaxError(quote.start, quote.start + 1, message);
}

function isQuotedOverLines({ kind, text }: YamlToken): boolean {
  return kind === 'scalar' && /^(["']).*\n.*\1$/s.test(text);
}

/** A value without quotes that contains brackets. */
const WITH_BRACKET = /[^\s,[\]{}"'][^\s,[\]{}]*(?:[{[][^\s,[\]{}]*[}\]][^\s,[\]{}]*)+/y;
const BEFORE_VALUE = new Set(' \t\r\n,[]{}"\'');

/** Finds a value inside brackets that contains brackets without quotes: `{ path: /one/{id} }`. */
function findBracketInValue(offset: number, text: string): Finding | undefined {
  if (!/[{[]/.test(text[offset] ?? '')) return undefined;
  let start = offset;
  while (start > 0 && !BEFORE_VALUE.has(text[start - 1] ?? '')) start -= 1;
  WITH_BRACKET.lastIndex = start;
  const [value] = WITH_BRACKET.exec(text) ?? [];
  if (start === offset || value === undefined || /:[{[]/.test(value)) return undefined;
  // Any other value may be a secret, and problems are logged.
  const isPrintable = value.startsWith('/') || /^\$\{\w+\}$/.test(value);
  const fix = isPrintable ? `write "${value}"` : 'put the complete value in quotes';
  return syntaxError(
    start,
    start + value.length,
    `a value with "${text[offset]}" needs quotes inside brackets; ${fix}`,
  );
}

/** Finds the bracket or quote that is never closed. The parser only reports where its search for the closing one ended. */
function unclosedOpener({ code, message, pos }: ParserError, root: Node | null): OffsetRange | undefined {
  const isQuote = code === 'MISSING_CHAR' && message.startsWith('Missing closing');
  if (!isQuote && !/^(?:flow|expected flow) .* end with/i.test(message)) return undefined;
  let start: number | undefined;
  visit(root, (_key, node) => {
    const isOpener = isQuote
      ? isScalar(node) && /^QUOTE/.test(node.type ?? '')
      : isCollection(node) && node.flow === true;
    const range = isOpener ? (node as Node).range : undefined;
    if (range && range[0] < pos[0] && pos[0] <= range[2]) start = range[0];
  });
  return start === undefined ? undefined : { start, end: start + 1 };
}

/** Finds the line that is indented further than its key, so that it continues the value above: `a: b\n    c: d`. */
function findContinuedValue({ code, pos }: ParserError, text: string, tokens: readonly YamlToken[]) {
  if (code !== 'BLOCK_AS_IMPLICIT_KEY' || !/: *$/.test(text.slice(Math.max(0, pos[0] - 100), pos[0]))) return undefined;
  const value = tokens.find(({ start, kind }) => start >= pos[0] && kind === 'scalar');
  const lastLine = (value?.text.lastIndexOf('\n') ?? -1) + 1;
  if (value === undefined || lastLine === 0 || /^["']/.test(value.text)) return undefined;
  const start = value.start + lastLine + value.text.slice(lastLine).search(/\S/);
  return syntaxError(start, value.start + value.text.length, CONTINUED);
}

const CONTINUED = 'this line continues the value above, because it is indented further; indent it less';

/** Finds the key at the indentation of list items: `- a: 1` and, below the `-`, `b: 2`. */
function findKeyBesideItems(error: ParserError, text: string): Finding | undefined {
  if (!isBlockIndent(error)) return undefined;
  const { start, end } = withoutIndent(error, text);
  const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const above = text.slice(0, start - indent.length).split('\n');
  const line = above.findLastIndex((row) => /\S/.test(row) && !row.startsWith(`${indent} `) && !/^ *#/.test(row));
  if (!above[line]?.startsWith(`${indent}- `)) return undefined;
  const message = `a key cannot be between the items of a list; remove the "- " on line ${line + 1}, or indent this line further`;
  return syntaxError(start, end, message);
}

/** Finds the line above an error of indentation that caused it. */
function findMisindentedLine(error: ParserError, text: string): Finding | undefined {
  return isBlockIndent(error) ? misindentedLine(text, withoutIndent(error, text).start) : undefined;
}

function isBlockIndent({ code, message }: ParserError): boolean {
  return code === 'BAD_INDENT' && !/^flow/i.test(message);
}

/** Skips the white space, the empty lines and the comments before the line that an error is about. */
function withoutIndent({ code, pos }: ParserError, text: string): OffsetRange {
  SPACING.lastIndex = pos[0];
  const [spacing = ''] = code === 'TAB_AS_INDENT' ? [] : (SPACING.exec(text) ?? []);
  const start = pos[0] + spacing.length < text.length ? pos[0] + spacing.length : pos[0];
  return { start, end: Math.max(start + 1, pos[1]) };
}

const SPACING = / *(?:(?<= )#[^\n]*(?=\n))?(?:\r?\n *(?:#[^\n]*(?=\n))?)*/y;

// Tags and directives change how YAML is read: `%YAML 1.1` turns `on` into true, and `!!binary` decodes a string. With them,
// the same text would have several readings.

const VERSION = /^%YAML[ \t]+1\.2$/;

/** Returns the errors of the directives and the tags of YAML text, in order. `%YAML 1.2` is allowed once. */
function findUnsupportedSyntax(text: string): Finding[] {
  // Most manifests have neither, and tokens cost time.
  if (!/!|^\uFEFF?%/m.test(text)) return [];
  const findings: Finding[] = [];
  let hasVersion = false;
  for (const { kind, text: token, start } of tokenize(text)) {
    const message = kind === 'other' ? messageOf(token, hasVersion) : undefined;
    if (message !== undefined) findings.push(syntaxError(start, start + token.length, message));
    hasVersion ||= kind === 'other' && VERSION.test(token);
  }
  return findings;
}

function messageOf(token: string, hasVersion: boolean): string | undefined {
  if (token.startsWith('!'))
    return 'a manifest cannot have tags; remove this one, or put a value that begins with "!" in quotes';
  if (!token.startsWith('%') || (VERSION.test(token) && !hasVersion)) return undefined;
  if (VERSION.test(token)) return 'the version of YAML is stated twice; remove this line';
  return token.startsWith('%YAML')
    ? 'a manifest is YAML 1.2; remove this line'
    : 'a line that begins with "%" is a directive, which a manifest cannot have; remove it';
}
