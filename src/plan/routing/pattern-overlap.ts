import type { Pattern, Segment } from './pattern.ts';

/** True if the wide pattern matches every path that the narrow one matches. */
export function containsPattern(wide: Pattern, narrow: Pattern): boolean {
  for (const [index, segment] of wide.entries()) {
    if (segment.kind === 'rest') return true;
    const other = narrow[index];
    if (other === undefined || other.kind === 'rest') return false;
    if (segment.kind === 'literal' && !isSameText(segment, other)) return false;
  }
  return wide.length === narrow.length;
}

/** Returns the pattern of the paths that both match; `undefined` if they have no path in common. */
export function intersect(one: Pattern, other: Pattern): Pattern | undefined {
  const segments: Segment[] = [];
  for (let index = 0; ; index += 1) {
    const a = one[index];
    const b = other[index];
    if (a === undefined && b === undefined) return segments;
    if (a?.kind === 'rest') return [...segments, ...other.slice(index)];
    if (b?.kind === 'rest') return [...segments, ...one.slice(index)];
    if (a === undefined || b === undefined) return undefined;
    if (a.kind === 'literal' && b.kind === 'literal' && a.text !== b.text) return undefined;
    segments.push(a.kind === 'literal' ? a : b);
  }
}

function isSameText(literal: Segment & { kind: 'literal' }, other: Segment): boolean {
  return other.kind === 'literal' && other.text === literal.text;
}

/** True if the router prefers `one` for a path that both match: it is the first with a literal, or has no rest. */
export function takesPrecedence(one: Pattern, other: Pattern): boolean {
  for (const [index, segment] of one.entries()) {
    const kind = other[index]?.kind;
    if (segment.kind !== kind) return RANKS[segment.kind] < (kind === undefined ? END_RANK : RANKS[kind]);
  }
  return other.length > one.length;
}

/** A pattern that ends at a segment precedes one whose rest begins there. */
const RANKS = { literal: 0, parameter: 1, rest: 3 } as const;
const END_RANK = 2;

/** The number of nodes that a search may still visit. Without a limit, thousands of crossing paths take quadratic time. */
export interface OverlapSearchBudget {
  remaining: number;
}

export function overlapSearchBudget(routes: readonly unknown[]): OverlapSearchBudget {
  return { remaining: 10_000 + 20 * routes.length };
}

interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  parameter: Node<T> | undefined;
  /** Items whose pattern ends at this node. */
  readonly ends: T[];
  /** Items whose rest begins at this node. */
  readonly rests: T[];
}

/**
 * Patterns by their segments, to find those that overlap with another one without comparing all of them. rou3's
 * `findOverlappingRoutes` compares a literal segment with every key of its level and has no limit: with 10,000 routes
 * under `/api` one search took 2 ms, where 10,000 searches of this tree take 35 ms.
 */
export class PatternTree<T> {
  readonly #root = createNode<T>();

  add(pattern: Pattern, item: T): void {
    let node = this.#root;
    for (const segment of pattern) {
      if (segment.kind === 'rest') {
        node.rests.push(item);
        return;
      }
      node = segment.kind === 'literal' ? literalChild(node, segment.text) : parameterChild(node);
    }
    node.ends.push(item);
  }

  /** Yields the items whose patterns have a path in common with this one, as far as the budget goes. */
  *overlapping(pattern: Pattern, budget: OverlapSearchBudget, from = this.#root, index = 0): Generator<T> {
    const segment = pattern[index];
    if (segment?.kind === 'rest') {
      yield* everything(from, budget);
      return;
    }
    budget.remaining -= 1;
    if (budget.remaining < 0) return;
    yield* from.rests;
    if (segment === undefined) {
      yield* from.ends;
      return;
    }
    if (from.parameter !== undefined) yield* this.overlapping(pattern, budget, from.parameter, index + 1);
    if (segment.kind === 'parameter') {
      for (const node of from.literals.values()) {
        if (budget.remaining < 0) return;
        yield* this.overlapping(pattern, budget, node, index + 1);
      }
    } else {
      const node = from.literals.get(segment.text);
      if (node !== undefined) yield* this.overlapping(pattern, budget, node, index + 1);
    }
  }
}

function* everything<T>(node: Node<T>, budget: OverlapSearchBudget): Generator<T> {
  budget.remaining -= 1;
  if (budget.remaining < 0) return;
  yield* node.rests;
  yield* node.ends;
  if (node.parameter !== undefined) yield* everything(node.parameter, budget);
  for (const inside of node.literals.values()) yield* everything(inside, budget);
}

function literalChild<T>(node: Node<T>, text: string): Node<T> {
  const child = node.literals.get(text) ?? createNode<T>();
  node.literals.set(text, child);
  return child;
}

function parameterChild<T>(node: Node<T>): Node<T> {
  node.parameter ??= createNode();
  return node.parameter;
}

function createNode<T>(): Node<T> {
  return { literals: new Map(), parameter: undefined, ends: [], rests: [] };
}
