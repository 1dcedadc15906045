import { isMap, isScalar, isSeq, type Node, visit } from 'yaml';
import {
  BLOCK_LIST,
  BLOCK_MAP,
  FLOW_LIST,
  FLOW_MAP,
  type OffsetRange,
  SCALAR,
  type ValueKind,
} from './value-positions.ts';

/** The tree of a document; `null` if the document is empty. */
export type YamlRoot = Node | null;

export function nodeOffsets(node: Node | null | undefined): OffsetRange {
  return { start: node?.range?.[0] ?? 0, end: node?.range?.[1] ?? 0 };
}

export function nodeKind(node: Node | null | undefined): ValueKind {
  if (isMap(node)) return node.flow === true ? FLOW_MAP : BLOCK_MAP;
  if (isSeq(node)) return node.flow === true ? FLOW_LIST : BLOCK_LIST;
  return SCALAR;
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
