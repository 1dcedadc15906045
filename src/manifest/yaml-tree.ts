import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { Fix, Path } from '../problem/finding.ts';
import type { TextEdit } from '../problem/problem.ts';
import { removeItem, replaceScalar, type ScalarSpan } from './scalar-edits.ts';

/** Offsets in UTF-16 code units. */
export type OffsetRange = { readonly start: number; readonly end: number };

/** Where a path ends. */
interface ResolvedNode {
  readonly key: Node | null;
  readonly node: Node | null;
  /** What holds it. */
  readonly parent: Node | null;
  /** How many steps of the path there were to go. */
  readonly depth: number;
}

/** Follows a path through the tree as far as it goes, past aliases if their anchors are given. */
function resolvePath(root: Node | null, path: Path, anchors?: Map<string, Node>): ResolvedNode {
  let place: ResolvedNode = { key: null, node: root, parent: null, depth: 0 };
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
export function offsetsAt(
  root: Node | null,
  where: { path: Path; at: 'key' | 'value' },
  anchors: Map<string, Node>,
): OffsetRange {
  const { key, node } = resolvePath(root, where.path, anchors);
  if (where.at === 'key' && key !== null) return nodeOffsets(key);
  return nodeOffsets(highlightNode(node) ?? key);
}

/** What stands behind an alias stands for more than this one place: it is not edited. */
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

/** A string on one line, in which nothing is left to be put in. */
function scalarSpan(node: Node | null | undefined, text: string, isInFlow: boolean): ScalarSpan | undefined {
  if (!isScalar(node) || typeof node.value !== 'string' || node.value.includes('${')) return undefined;
  const { start, end } = nodeOffsets(node);
  const written = text.slice(start, end);
  const isQuoted = /^(["']).*\1$/.test(written);
  return isQuoted || written === node.value ? { start, end, isInFlow } : undefined;
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
function highlightNode(node: Node | null): Node | null {
  if (isMap(node) && node.flow !== true) return ((node.items[0] as Pair<Node>)?.key as Node) ?? node;
  if (isSeq(node) && node.flow !== true) return highlightNode((node.items[0] as Node | null) ?? null) ?? node;
  return node;
}

export function nodeOffsets(node: Node | null): OffsetRange {
  return { start: node?.range?.[0] ?? 0, end: node?.range?.[1] ?? 0 };
}
