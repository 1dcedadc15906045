import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, visit } from 'yaml';
import type { Fix, Path } from '../problem/finding.ts';
import type { TextEdit } from '../problem/problem.ts';
import { removeItem, replaceScalar, type ScalarSpan } from './scalar-edits.ts';

/** Offsets in UTF-16 code units. */
export type OffsetRange = { readonly start: number; readonly end: number };

/** The tree of a document; `null` if the document is empty. */
export type YamlRoot = Node | null;

/** The node at the end of a path. */
interface ResolvedNode {
  readonly key: Node | null;
  readonly node: Node | null;
  readonly parent: Node | null;
  /** The number of steps of the path that exist. */
  readonly depth: number;
}

/** Follows a path as far as it exists. Resolves aliases if `anchors` is given. */
function resolvePath(root: Node | null, path: Path, anchors?: Map<string, Node>): ResolvedNode {
  let resolved: ResolvedNode = { key: null, node: root, parent: null, depth: 0 };
  for (const [index, step] of path.entries()) {
    let parent = resolved.node;
    while (parent !== null && isAlias(parent)) parent = anchors?.get(parent.source) ?? null;
    const depth = index + 1;
    if (isMap(parent)) {
      const pair = pairsOf(parent).get(step);
      if (pair === undefined) break;
      resolved = { key: pair.key, node: pair.value, parent, depth };
    } else if (isSeq(parent) && typeof step === 'number' && step < parent.items.length) {
      resolved = { key: null, node: parent.items[step] as Node | null, parent, depth };
    } else {
      break;
    }
  }
  return resolved;
}

/** Returns the offsets of a key or a value; of the parent if the member is missing. */
export function offsetsAt(
  root: Node | null,
  where: { path: Path; at: 'key' | 'value' },
  anchors: Map<string, Node>,
): OffsetRange {
  const { key, node } = resolvePath(root, where.path, anchors);
  if (where.at === 'key' && key !== null) return nodeOffsets(key);
  return nodeOffsets(highlightNode(node) ?? key);
}

/** Returns the edit of a fix; `undefined` for a value behind an alias, since the edit would change other values too. */
export function editOf(fix: Fix, text: string, root: Node | null): TextEdit | undefined {
  const { key, node, parent, depth } = resolvePath(root, fix.path);
  if (depth < fix.path.length) return undefined;
  const isInFlow = isMap(parent) || isSeq(parent) ? parent.flow === true : false;
  const span = scalarSpan(fix.change === 'key' ? key : node, text, isInFlow);
  if (span === undefined) return undefined;
  if (fix.change !== 'remove') return replaceScalar(text, span, fix.text);
  const previous = isSeq(parent)
    ? scalarSpan(parent.items[Number(fix.path.at(-1)) - 1] as Node | null, text, isInFlow)
    : undefined;
  return previous && removeItem(text, span, previous);
}

/** Returns the span of a string on one line without variables. */
function scalarSpan(node: Node | null | undefined, text: string, isInFlow: boolean): ScalarSpan | undefined {
  if (!isScalar(node) || typeof node.value !== 'string' || node.value.includes('${')) return undefined;
  const { start, end } = nodeOffsets(node);
  const source = text.slice(start, end);
  const isQuoted = /^(["']).*\1$/.test(source);
  return isQuoted || source === node.value ? { start, end, isInFlow } : undefined;
}

const pairs = new WeakMap<Node, Map<unknown, Pair<Node, Node | null>>>();

function pairsOf(map: Node & { items: unknown[] }): Map<unknown, Pair<Node, Node | null>> {
  const cached = pairs.get(map);
  if (cached !== undefined) return cached;
  // Reversed, so that the first of two equal keys wins.
  const items = (map.items as Pair<Node, Node | null>[]).toReversed();
  const byKey = new Map(items.map((item) => [isScalar(item.key) ? item.key.value : undefined, item] as const));
  pairs.set(map, byKey);
  return byKey;
}

/** Returns the first key of a collection: highlighting the complete collection would underline half of the file. */
function highlightNode(node: Node | null): Node | null {
  if (isMap(node) && node.flow !== true) return ((node.items[0] as Pair<Node>)?.key as Node) ?? node;
  if (isSeq(node) && node.flow !== true) return highlightNode((node.items[0] as Node | null) ?? null) ?? node;
  return node;
}

export function nodeOffsets(node: Node | null): OffsetRange {
  return { start: node?.range?.[0] ?? 0, end: node?.range?.[1] ?? 0 };
}

/** Returns the last quote, or the last bracket, that is open at an offset. */
export function openerBefore(root: YamlRoot, offset: number, opener: 'quote' | 'bracket'): OffsetRange | undefined {
  let start: number | undefined;
  visit(root, (_key, node) => {
    const isOpener =
      opener === 'quote'
        ? isScalar(node) && /^QUOTE/.test(node.type ?? '')
        : (isMap(node) || isSeq(node)) && node.flow === true;
    const range = isOpener ? (node as Node).range : undefined;
    if (range && range[0] < offset && offset <= range[2]) start = range[0];
  });
  return start === undefined ? undefined : { start, end: start + 1 };
}
