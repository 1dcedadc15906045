import { isMap, isScalar, isSeq, type Node, parseDocument, visit, type YAMLError } from 'yaml';
import type { Finding, FindingLocation, Fix } from '../problem/finding.ts';
import type { Locator } from '../problem/problem.ts';
import { createLineIndex, type LineIndex } from './line-index.ts';
import { MAX_FILE_BYTES, type Source } from './source.ts';
import { syntaxError, syntaxMessage } from './syntax-error.ts';
import { commentsOf, type YamlComment } from './yaml-tokens.ts';
import { editOf, type OffsetRange, offsetsAt } from './yaml-tree.ts';
import { MAX_DEPTH, readValues, type YamlValue } from './yaml-values.ts';

/** A parsed manifest: plain values and their positions. */
export interface Document extends Locator {
  readonly value: YamlValue;
  readonly text: string;
  /** The documents of the included files, in order. */
  readonly included: readonly Document[];
  fileOf(where: FindingLocation): string;
  /** Returns the comments, in order. */
  comments(): readonly YamlComment[];
}

/** Parses YAML 1.2 (core schema) into plain values. Never throws, even for invalid text. */
export function parse(source: Source): { document: Document; findings: Finding[] } {
  const text = source.text;
  const lines = createLineIndex(text);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_FILE_BYTES) {
    const message = `the manifest has ${bytes} bytes; at most ${MAX_FILE_BYTES} are read`;
    return { document: createDocument(source, lines, null), findings: [syntaxError(0, 0, message)] };
  }
  let root: Node | null;
  let findings: Finding[];
  try {
    const options = {
      prettyErrors: false,
      version: '1.2',
      // The parser would compare every pair of keys; `readValues` finds duplicates in linear time.
      uniqueKeys: false,
      merge: false,
    } as const;
    const parsed = parseDocument(text, options);
    root = parsed.contents;
    findings = parserFindings(parsed.errors, parsed.warnings, text, root);
    if (parsed.errors.length > 0) return { document: createDocument(source, lines, root), findings };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `the manifest is nested too deeply; at most ${MAX_DEPTH} levels are read`;
    return { document: createDocument(source, lines, null), findings: [syntaxError(0, 0, message)] };
  }
  const { value, anchors } = readValues(root, findings);
  return { document: createDocument(source, lines, root, value, anchors), findings };
}

function createDocument(
  source: Source,
  lines: LineIndex,
  root: Node | null,
  value: YamlValue = null,
  anchors: Map<string, Node> = new Map(),
): Document {
  const locate = (where: FindingLocation) => {
    const { start, end } = 'path' in where ? offsetsAt(root, where, anchors) : where;
    return lines.rangeOf(start, end);
  };
  const edit = (fix: Fix) => editOf(fix, source.text, root);
  const { text, path: file } = source;
  return { value, text, file, included: [], locate, fileOf: () => file, edit, comments: () => commentsOf(text) };
}

/**
 * Reports the first error only, since the parser guesses after it. Without an error, reports all warnings except the one about
 * a closing bracket at the indentation of its key, which is not ambiguous.
 */
function parserFindings(
  errors: readonly YAMLError[],
  warnings: readonly YAMLError[],
  text: string,
  root: Node | null,
): Finding[] {
  const [first] = errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const reported = first === undefined ? warnings.filter(({ code }) => code !== 'BAD_INDENT') : [first];
  return reported.map((error) => {
    const { start, end } = openingDelimiter(error, root) ?? withoutIndent(error, text);
    return syntaxError(start, end, syntaxMessage(error.code, error.message));
  });
}

/** Finds the bracket or quote that is never closed. The parser only reports where its search for the closing one ended. */
function openingDelimiter({ code, message, pos }: YAMLError, root: Node | null): OffsetRange | undefined {
  const isQuote = code === 'MISSING_CHAR' && message.startsWith('Missing closing');
  if (!isQuote && !/^(?:flow|expected flow) .* end with/i.test(message)) return undefined;
  let start: number | undefined;
  visit(root, (_key, node) => {
    const isOpener = isQuote
      ? isScalar(node) && /^QUOTE/.test(node.type ?? '')
      : (isMap(node) || isSeq(node)) && node.flow === true;
    const range = isOpener ? (node as Node).range : undefined;
    if (range && range[0] < pos[0] && pos[0] <= range[2]) start = range[0];
  });
  return start === undefined ? undefined : { start, end: start + 1 };
}

function withoutIndent({ code, pos }: YAMLError, text: string): OffsetRange {
  let [start] = pos;
  if (code !== 'TAB_AS_INDENT') while (text[start] === ' ') start += 1;
  return { start, end: Math.max(start + 1, pos[1]) };
}
