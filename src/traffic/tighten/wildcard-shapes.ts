import type { RequestGroup } from './usage.ts';

/** More words than these in one place are probably names of items. */
const MAX_WORDS = 6;

/** A segment of a proposed path: a word, or a parameter. */
export type ShapeSegment = { readonly kind: 'word'; readonly text: string } | { readonly kind: 'id' | 'name' };

/** A path below a wildcard, with the requests that have it. */
export interface WildcardShape {
  readonly segments: readonly ShapeSegment[];
  readonly groups: readonly RequestGroup[];
}

/** The requests of one path, and those of longer paths. */
interface ShapeNode {
  readonly groups: RequestGroup[];
  readonly words: Map<string, ShapeNode>;
  /** The segments that are no words. */
  other: ShapeNode | undefined;
}

/**
 * Returns the forms of the paths that a wildcard matched: words as they are, unless there are many in one place, and parameters.
 *
 * @param depth the number of segments before the wildcard
 * @param isName true for a segment that may be a literal of a route
 */
export function wildcardShapes(
  groups: readonly RequestGroup[],
  depth: number,
  isName: (segment: string) => boolean,
): WildcardShape[] {
  const root = emptyNode();
  for (const group of groups) {
    // One trailing slash is ignored.
    const segments = group.path
      .replace(/\/$/, '')
      .split('/')
      .slice(1 + depth);
    let node = root;
    for (const segment of segments) node = childOf(node, isName(segment) ? segment : undefined);
    node.groups.push(group);
  }
  return [...shapesOf(root, [])];
}

function* shapesOf(node: ShapeNode, before: readonly ShapeSegment[]): Generator<WildcardShape> {
  if (node.groups.length > 0) yield { segments: before, groups: node.groups };
  if (node.words.size > MAX_WORDS) {
    const all = [...node.words.values(), ...(node.other === undefined ? [] : [node.other])];
    yield* shapesOf(all.reduce(mergeNodes), [...before, { kind: 'name' }]);
    return;
  }
  for (const [text, child] of [...node.words].toSorted(([a], [b]) => (a < b ? -1 : 1)))
    yield* shapesOf(child, [...before, { kind: 'word', text }]);
  if (node.other !== undefined) yield* shapesOf(node.other, [...before, { kind: 'id' }]);
}

function emptyNode(): ShapeNode {
  return { groups: [], words: new Map(), other: undefined };
}

function childOf(node: ShapeNode, word: string | undefined): ShapeNode {
  if (word === undefined) {
    node.other ??= emptyNode();
    return node.other;
  }
  const child = node.words.get(word) ?? emptyNode();
  node.words.set(word, child);
  return child;
}

function mergeNodes(one: ShapeNode, other: ShapeNode): ShapeNode {
  const words = new Map(one.words);
  for (const [word, child] of other.words) {
    const own = words.get(word);
    words.set(word, own === undefined ? child : mergeNodes(own, child));
  }
  const others = [one.other, other.other].filter((node) => node !== undefined);
  return {
    groups: [...one.groups, ...other.groups],
    words,
    other: others.length === 0 ? undefined : others.reduce(mergeNodes),
  };
}
