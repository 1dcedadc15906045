import type { Node } from 'yaml';
import type { Fix, Path } from '../problem/finding.ts';
import type { TextEdit } from '../problem/problem.ts';
import { editOf, type OffsetRange, offsetsAt } from './yaml-tree.ts';

/** Finds the offsets of the values of a document in its text. */
export interface PositionTree {
  offsetsAt(where: { path: Path; at: 'key' | 'value' }): OffsetRange;
  /** Returns the edit of a fix; `undefined` if the text cannot be edited there. */
  editOf(fix: Fix): TextEdit | undefined;
}

/** @param text the text that `root` was parsed from */
export function createPositionTree(
  text: string,
  root: Node | null,
  anchors: Map<string, Node> = new Map(),
): PositionTree {
  return {
    offsetsAt: (where) => offsetsAt(root, where, anchors),
    editOf: (fix) => editOf(fix, text, root),
  };
}
