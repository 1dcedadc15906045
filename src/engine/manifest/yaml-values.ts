import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { Finding } from '../problem/finding.ts';
import { syntaxError } from './syntax-error.ts';
import { type OffsetRange, type ValueKind, ValuePositions } from './value-positions.ts';

export const MAX_DEPTH = 100;
/** Counts nodes behind aliases too, so that a few lines cannot expand to billions of nodes. */
export const MAX_NODES = 500_000;
/** The limit of one list or map. The validator needs quadratic time if every member is invalid. */
export const MAX_MEMBERS = 20_000;

export type YamlValue = null | boolean | number | string | readonly YamlValue[] | { readonly [key: string]: YamlValue };

export function isList(value: YamlValue | undefined): value is readonly YamlValue[] {
  return Array.isArray(value);
}

/** Reads the plain values of a tree and their positions. Adds errors to `findings`. */
export function readValues(root: Node | null, findings: Finding[]): { value: YamlValue; positions: ValuePositions } {
  const reader = new ValueReader(findings);
  return { value: reader.read(root, 0), positions: reader.positions };
}

class ValueReader {
  readonly positions = new ValuePositions();
  readonly #findings: Finding[];
  #nodes = 0;
  /** The path of the current node. */
  readonly #path: (string | number)[] = [];
  /** The ancestors of the current node: an alias to one of them is a cycle. */
  readonly #openNodes = new Set<Node>();
  readonly #anchors = new Map<string, Node>();
  /** The rows of the nodes with anchors. */
  readonly #anchorRows = new Map<Node, number>();
  /** The number of aliases around the current node. Nodes behind an alias have their positions already. */
  #openAliases = 0;

  constructor(findings: Finding[]) {
    this.#findings = findings;
  }

  read(node: Node | null | undefined, depth: number, key?: Node): YamlValue {
    if (this.#openAliases > 0) return this.#readUnlocated(node, undefined, depth);
    const { start, end } = nodeOffsets(node ?? key);
    const row = this.positions.open(nodeKind(node), start);
    const value = this.#readUnlocated(node, row, depth);
    this.positions.close(row, end);
    return value;
  }

  /** @param row the row of the node in the positions; `undefined` behind an alias */
  #readUnlocated(node: Node | null | undefined, row: number | undefined, depth: number): YamlValue {
    this.#nodes += 1;
    if (node === null || node === undefined) return null;
    const error = this.#limitError(node, depth);
    if (error !== undefined) return this.#report(node, error);
    if ('anchor' in node && typeof node.anchor === 'string') {
      this.#anchors.set(node.anchor, node);
      if (row !== undefined) this.#anchorRows.set(node, row);
    }
    if (isAlias(node)) return this.#readAlias(node, row, depth);
    if (isScalar(node)) return this.#readScalar(node);
    this.#openNodes.add(node);
    const value = isSeq(node)
      ? node.items.map((item, index) => this.#readMember(index, item as Node | null, depth))
      : isMap(node)
        ? this.#readMap(node.items as Pair<Node, Node | null>[], depth)
        : null;
    this.#openNodes.delete(node);
    return value;
  }

  #readMember(step: string | number, node: Node | null, depth: number, key?: Node): YamlValue {
    this.#path.push(step);
    const value = this.read(node, depth + 1, key);
    this.#path.pop();
    return value;
  }

  #limitError(node: Node, depth: number): string | undefined {
    if (depth > MAX_DEPTH) return `the manifest is nested too deeply here; at most ${MAX_DEPTH} levels are read`;
    // Report this once, at the node that exceeds the limit. The remaining nodes are skipped.
    if (this.#nodes === MAX_NODES)
      return `the manifest has too many values; at most ${MAX_NODES} are read, including those behind aliases`;
    if ((isMap(node) || isSeq(node)) && node.items.length > MAX_MEMBERS)
      return `this has ${node.items.length} members; at most ${MAX_MEMBERS} are read`;
    if (this.#openNodes.has(node)) return 'this alias refers to a value that contains it';
    return undefined;
  }

  #readAlias(node: Alias, row: number | undefined, depth: number): YamlValue {
    const { source: name } = node;
    const target = this.#anchors.get(name);
    if (target === undefined)
      return this.#report(node, `there is no anchor "&${name}" before this alias; add it, or remove the alias`);
    if (this.#openNodes.has(target))
      return this.#report(node, `the alias "*${name}" refers to a value that contains it`);
    const targetRow = this.#anchorRows.get(target);
    if (row !== undefined && targetRow !== undefined) this.positions.setAlias(row, targetRow);
    if (this.#nodes > MAX_NODES) return null;
    this.#openAliases += 1;
    const value = this.read(target, depth);
    this.#openAliases -= 1;
    return value;
  }

  #readScalar(node: Node & { value: unknown }): YamlValue {
    const { value } = node;
    if (typeof value === 'number' && !Number.isFinite(value))
      return this.#report(node, 'a number must be finite; write a number, or a string in quotes');
    return value === null || typeof value === 'boolean' || typeof value === 'number' ? value : String(value);
  }

  #readMap(pairs: readonly Pair<Node, Node | null>[], depth: number): YamlValue {
    const members = new Map<string, YamlValue>();
    for (const { key, value } of pairs) {
      const name = isScalar(key) ? key.value : undefined;
      if (typeof name !== 'string') this.#report(key, 'a key must be a string; put it in quotes');
      else if (name === '<<' && isScalar(key) && key.type === 'PLAIN')
        this.#report(
          key,
          'merge keys ("<<") are not part of YAML 1.2; write the keys out, or those of all routes in "defaults"',
        );
      else if (members.has(name)) {
        const related = { path: [...this.#path, name], message: 'the first one' };
        this.#report(key, `the key "${name}" appears twice; remove one of the two`, related);
      } else if (this.#nodes <= MAX_NODES) {
        const { start, end } = nodeOffsets(key);
        if (this.#openAliases === 0) this.positions.setKey(name, start, end);
        members.set(name, this.#readMember(name, value, depth, key));
      }
    }
    // fromEntries defines own properties, so a key "__proto__" is safe.
    return Object.fromEntries(members);
  }

  /** Adds an error. Returns the value of the node. */
  #report(node: Node, message: string, related?: Finding['related']): null {
    const { start, end } = nodeOffsets(node);
    this.#findings.push({ ...syntaxError(start, end, message), ...(related && { related }) });
    return null;
  }
}

function nodeOffsets(node: Node | null | undefined): OffsetRange {
  return { start: node?.range?.[0] ?? 0, end: node?.range?.[1] ?? 0 };
}

function nodeKind(node: Node | null | undefined): ValueKind {
  if (isMap(node)) return node.flow === true ? 'flow map' : 'block map';
  if (isSeq(node)) return node.flow === true ? 'flow list' : 'block list';
  return 'scalar';
}
