import {
  CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import type { Finding, Fix, Path, Where } from '../problem/finding.ts';
import type { Edit, Locator } from '../problem/problem.ts';
import { removal, replacement, type Span } from './edit.ts';
import { type Lines, linesOf } from './lines.ts';
import type { Source } from './source.ts';
import { syntaxMessage } from './syntax.ts';

/** A manifest of 10,000 routes has about 2 MB; far above that it is no manifest any more. */
const MAX_CHARACTERS = 5_000_000;
const MAX_DEPTH = 100;
/** Counted after aliases are followed, so a few lines cannot stand for billions of nodes. */
const MAX_NODES = 500_000;
/** Of one list or map. The validator's time grows with the square of it when every member is faulty. */
const MAX_MEMBERS = 20_000;

export type Value = null | boolean | number | string | readonly Value[] | { readonly [key: string]: Value };

/** A parsed manifest: plain values, and the place of each. */
export interface Document extends Locator {
  readonly value: Value;
  readonly text: string;
  /** The documents of the files that it includes, in their order. */
  readonly included: readonly Document[];
  fileOf(where: Where): string;
  /** Looks for the comments, in their order. */
  comments(): readonly Comment[];
}

export interface Comment {
  /** Where its `#` stands: an offset in UTF-16 code units. */
  readonly start: number;
  /** From its `#` to the end of its line. */
  readonly text: string;
}

/** Reads YAML 1.2 (core schema) into plain values. Never throws on any text. */
export function parse(source: Source): { document: Document; findings: Finding[] } {
  const text = source.text;
  const lines = linesOf(text);
  if (text.length > MAX_CHARACTERS) {
    const message = `the manifest has ${text.length} characters; at most ${MAX_CHARACTERS} are read`;
    return { document: documentOf(source, lines, null), findings: [syntax(0, 0, message)] };
  }
  let root: Node | null;
  let findings: Finding[];
  try {
    const options = {
      prettyErrors: false,
      version: '1.2',
      // The parser would compare each key with each: duplicates are told of below.
      uniqueKeys: false,
      merge: false,
    } as const;
    const parsed = parseDocument(text, options);
    root = parsed.contents;
    findings = parserFindings(parsed.errors, parsed.warnings, text, root);
    if (parsed.errors.length > 0) return { document: documentOf(source, lines, root), findings };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const message = `the manifest is nested too deeply; at most ${MAX_DEPTH} levels are read`;
    return { document: documentOf(source, lines, null), findings: [syntax(0, 0, message)] };
  }
  const reader: Reader = { nodes: 0, path: [], open: new Set(), anchors: new Map(), findings };
  const value = readNode(root, 0, reader);
  return { document: documentOf(source, lines, root, value, reader.anchors), findings };
}

function documentOf(
  source: Source,
  lines: Lines,
  root: Node | null,
  value: Value = null,
  anchors: Map<string, Node> = new Map(),
): Document {
  const locate = (where: Where) => {
    const { start, end } = 'path' in where ? offsetsOf(root, where, anchors) : where;
    return lines.rangeOf(start, end);
  };
  const edit = (fix: Fix) => editOf(fix, source.text, root);
  const { text, path: file } = source;
  return { value, text, file, included: [], locate, fileOf: () => file, edit, comments: () => commentsOf(text) };
}

interface Reader {
  nodes: number;
  /** The way to the node being read now. */
  readonly path: (string | number)[];
  /** The anchored nodes being read now: meeting one again is a circle. */
  readonly open: Set<Node>;
  readonly anchors: Map<string, Node>;
  readonly findings: Finding[];
}

function readNode(node: Node | null | undefined, depth: number, reader: Reader): Value {
  reader.nodes += 1;
  if (node === null || node === undefined) return null;
  const fault = limitFault(node, depth, reader);
  if (fault !== undefined) {
    reader.findings.push(syntaxAt(node, fault));
    return null;
  }
  if ('anchor' in node && typeof node.anchor === 'string') reader.anchors.set(node.anchor, node);
  if (isAlias(node)) return readAlias(node, node.source, depth, reader);
  if (isScalar(node)) return readScalar(node, reader);
  reader.open.add(node);
  const value = isSeq(node)
    ? node.items.map((item, index) => readMember(index, item as Node | null, depth, reader))
    : isMap(node)
      ? readMap(node.items as Pair<Node, Node | null>[], depth, reader)
      : null;
  reader.open.delete(node);
  return value;
}

function readMember(step: string | number, node: Node | null, depth: number, reader: Reader): Value {
  reader.path.push(step);
  const value = readNode(node, depth + 1, reader);
  reader.path.pop();
  return value;
}

function limitFault(node: Node, depth: number, reader: Reader): string | undefined {
  if (depth > MAX_DEPTH) return `the manifest is nested too deeply here; at most ${MAX_DEPTH} levels are read`;
  // Said once, at the node that went over: the rest is skipped in silence.
  if (reader.nodes === MAX_NODES)
    return `the manifest holds too many values; at most ${MAX_NODES} are read, aliases followed`;
  if ((isMap(node) || isSeq(node)) && node.items.length > MAX_MEMBERS)
    return `this holds ${node.items.length} members; at most ${MAX_MEMBERS} are read`;
  if (reader.open.has(node)) return 'this alias refers to a value that contains it';
  return undefined;
}

function readAlias(node: Node, name: string, depth: number, reader: Reader): Value {
  const target = reader.anchors.get(name);
  if (target === undefined) {
    reader.findings.push(syntaxAt(node, `no anchor "&${name}" stands before this alias`));
    return null;
  }
  if (reader.open.has(target)) {
    reader.findings.push(syntaxAt(node, `the alias "*${name}" refers to a value that contains it`));
    return null;
  }
  return reader.nodes > MAX_NODES ? null : readNode(target, depth, reader);
}

function readScalar(node: Node & { value: unknown }, reader: Reader): Value {
  const { value } = node;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    reader.findings.push(syntaxAt(node, 'a manifest holds no endless numbers; write a number, or a string in quotes'));
    return null;
  }
  return value === null || typeof value === 'boolean' || typeof value === 'number' ? value : String(value);
}

function readMap(pairs: readonly Pair<Node, Node | null>[], depth: number, reader: Reader): Value {
  const entries: [string, Value][] = [];
  const names = new Set<string>();
  for (const pair of pairs) {
    if (!isScalar(pair.key) || typeof pair.key.value !== 'string') {
      reader.findings.push(syntaxAt(pair.key, 'a key must be a string; put it in quotes'));
    } else if (pair.key.value === '<<') {
      reader.findings.push(syntaxAt(pair.key, 'merge keys ("<<") are not part of YAML 1.2; write the keys out'));
    } else if (names.has(pair.key.value)) {
      const message = `the key "${pair.key.value}" stands here a second time; keep one of the two`;
      const related = { path: [...reader.path, pair.key.value], message: 'the first one' };
      reader.findings.push({ ...syntaxAt(pair.key, message), related });
    } else if (reader.nodes <= MAX_NODES) {
      names.add(pair.key.value);
      entries.push([pair.key.value, readMember(pair.key.value, pair.value, depth, reader)]);
    }
  }
  // fromEntries defines own properties, so that a key "__proto__" is a key like any other.
  return Object.fromEntries(entries);
}

type Offsets = { readonly start: number; readonly end: number };

/** Where a path ends. */
interface Place {
  readonly key: Node | null;
  readonly node: Node | null;
  /** What holds it. */
  readonly parent: Node | null;
  /** How many steps of the path there were to go. */
  readonly depth: number;
}

/** Follows a path through the tree as far as it goes, past aliases if their anchors are given. */
function follow(root: Node | null, path: Path, anchors?: Map<string, Node>): Place {
  let place: Place = { key: null, node: root, parent: null, depth: 0 };
  for (const [index, step] of path.entries()) {
    let parent = place.node;
    while (parent !== null && isAlias(parent)) parent = anchors?.get(parent.source) ?? null;
    const depth = index + 1;
    if (isMap(parent)) {
      const pair = pairsOf(parent).get(step);
      if (pair === undefined) break;
      place = { key: pair.key, node: pair.value, parent, depth };
    } else if (isSeq(parent) && typeof step === 'number' && step < parent.items.length) {
      place = { key: null, node: parent.items[step] as Node | null, parent, depth };
    } else {
      break;
    }
  }
  return place;
}

/** A missing member is placed at what should hold it. */
function offsetsOf(root: Node | null, where: { path: Path; at: 'key' | 'value' }, anchors: Map<string, Node>): Offsets {
  const { key, node } = follow(root, where.path, anchors);
  if (where.at === 'key' && key !== null) return offsets(key);
  return offsets(firstOf(node) ?? key);
}

/** What stands behind an alias stands for more than this one place: it is not edited. */
function editOf(fix: Fix, text: string, root: Node | null): Edit | undefined {
  const { key, node, parent, depth } = follow(root, fix.path);
  if (depth < fix.path.length) return undefined;
  const isInFlow = isMap(parent) || isSeq(parent) ? parent.flow === true : false;
  const span = spanOf(fix.change === 'key' ? key : node, text, isInFlow);
  if (span === undefined) return undefined;
  if (fix.change !== 'remove') return replacement(text, span, fix.text);
  const previous = isSeq(parent)
    ? spanOf(parent.items[Number(fix.path.at(-1)) - 1] as Node | null, text, isInFlow)
    : undefined;
  return previous && removal(text, span, previous);
}

/** A string on one line, in which nothing is left to be put in. */
function spanOf(node: Node | null | undefined, text: string, isInFlow: boolean): Span | undefined {
  if (!isScalar(node) || typeof node.value !== 'string' || node.value.includes('${')) return undefined;
  const { start, end } = offsets(node);
  const written = text.slice(start, end);
  const isQuoted = /^(["']).*\1$/.test(written);
  return isQuoted || written === node.value ? { start, end, isInFlow } : undefined;
}

function commentsOf(text: string): Comment[] {
  const comments: Comment[] = [];
  let start = 0;
  for (const token of tokensOf(text)) {
    if (token.kind === 'comment') comments.push({ start, text: token.text });
    start += token.text.length;
  }
  return comments;
}

const pairs = new WeakMap<Node, Map<unknown, Pair<Node, Node | null>>>();

function pairsOf(map: Node & { items: unknown[] }): Map<unknown, Pair<Node, Node | null>> {
  const known = pairs.get(map);
  if (known !== undefined) return known;
  // Of equal keys the first one counts.
  const items = (map.items as Pair<Node, Node | null>[]).toReversed();
  const byKey = new Map(items.map((item) => [isScalar(item.key) ? item.key.value : undefined, item] as const));
  pairs.set(map, byKey);
  return byKey;
}

/** A collection is shown by its first key: its whole extent would underline half of the file. */
function firstOf(node: Node | null): Node | null {
  if (isMap(node) && node.flow !== true) return ((node.items[0] as Pair<Node>)?.key as Node) ?? node;
  if (isSeq(node) && node.flow !== true) return firstOf((node.items[0] as Node | null) ?? null) ?? node;
  return node;
}

function offsets(node: Node | null): Offsets {
  return { start: node?.range?.[0] ?? 0, end: node?.range?.[1] ?? 0 };
}

/**
 * The first error only: what the parser makes of the text behind it is guesswork. Its warnings are told each,
 * save that a closing bracket stands as far left as its key, which has one reading all the same.
 */
function parserFindings(
  errors: readonly YAMLError[],
  warnings: readonly YAMLError[],
  text: string,
  root: Node | null,
): Finding[] {
  const [first] = errors.toSorted((a, b) => a.pos[0] - b.pos[0]);
  const told = first === undefined ? warnings.filter(({ code }) => code !== 'BAD_INDENT') : [first];
  return told.map((error) => {
    const { start, end } = openerOf(error, root) ?? withoutIndent(error, text);
    return syntax(start, end, syntaxMessage(error.code, error.message));
  });
}

/** The bracket or quote that was never closed: the parser tells only where it gave up looking. */
function openerOf({ code, message, pos }: YAMLError, root: Node | null): Offsets | undefined {
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

function withoutIndent({ code, pos }: YAMLError, text: string): Offsets {
  let [start] = pos;
  if (code !== 'TAB_AS_INDENT') while (text[start] === ' ') start += 1;
  return { start, end: Math.max(start + 1, pos[1]) };
}

function syntaxAt(node: Node, message: string): Finding {
  const { start, end } = offsets(node);
  return syntax(start, end, message);
}

function syntax(start: number, end: number, message: string): Finding {
  return { rule: 'syntax', severity: 'error', where: { start, end }, message };
}

/** A piece of YAML text; all of them, joined, are the text. */
export interface Token {
  readonly kind: 'space' | 'newline' | 'comment' | 'scalar' | 'block-scalar-header' | 'block-scalar' | 'other';
  readonly text: string;
}

/** Takes YAML text that `parse` has no findings about into pieces. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  // The lexer says of a scalar that it comes; a header, that it is one of a block.
  let comes: Token['kind'] | undefined;
  let next: Token['kind'] = 'scalar';
  for (const piece of new Lexer().lex(text)) {
    const type = CST.tokenType(piece);
    const kind = comes ?? kindOf(type);
    if (kind === 'block-scalar-header') next = 'block-scalar';
    if (comes === undefined && type === 'scalar') {
      comes = next;
      next = 'scalar';
      continue;
    }
    comes = undefined;
    if (piece !== '' && type !== 'doc-mode' && type !== 'flow-error-end') tokens.push({ kind, text: piece });
  }
  return tokens;
}

function kindOf(type: string | null): Token['kind'] {
  if (type === 'space' || type === 'newline' || type === 'comment' || type === 'block-scalar-header') return type;
  return type?.endsWith('scalar') ? 'scalar' : 'other';
}
