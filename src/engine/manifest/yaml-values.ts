import { type Alias, isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { Finding } from '../problem/finding.ts';
import { syntaxError } from './syntax-error.ts';
import {
  BLOCK_LIST,
  BLOCK_MAP,
  FLOW_LIST,
  FLOW_MAP,
  type OffsetRange,
  SCALAR,
  type ValueKind,
  ValuePositions,
} from './value-positions.ts';

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
  const positions = new ValuePositions();
  const reader: ValueReader = {
    nodes: 0,
    path: [],
    openNodes: new Set(),
    anchors: new Map(),
    anchorRows: new Map(),
    openAliases: 0,
    positions,
    findings,
  };
  return { value: readNode(root, 0, reader), positions };
}

interface ValueReader {
  nodes: number;
  /** The path of the current node. */
  readonly path: (string | number)[];
  /** The ancestors of the current node: an alias to one of them is a cycle. */
  readonly openNodes: Set<Node>;
  readonly anchors: Map<string, Node>;
  /** The rows of the nodes with anchors. */
  readonly anchorRows: Map<Node, number>;
  /** The number of aliases around the current node. Nodes behind an alias have their positions already. */
  openAliases: number;
  readonly positions: ValuePositions;
  readonly findings: Finding[];
}

function readNode(node: Node | null | undefined, depth: number, reader: ValueReader, key?: Node): YamlValue {
  if (reader.openAliases > 0) return readUnlocated(node, undefined, depth, reader);
  const { start, end } = nodeOffsets(node ?? key);
  const row = reader.positions.open(nodeKind(node), start);
  const value = readUnlocated(node, row, depth, reader);
  reader.positions.close(row, end);
  return value;
}

/** @param row the row of the node in the positions; `undefined` behind an alias */
function readUnlocated(
  node: Node | null | undefined,
  row: number | undefined,
  depth: number,
  reader: ValueReader,
): YamlValue {
  reader.nodes += 1;
  if (node === null || node === undefined) return null;
  const error = limitError(node, depth, reader);
  if (error !== undefined) {
    reader.findings.push(syntaxAt(node, error));
    return null;
  }
  if ('anchor' in node && typeof node.anchor === 'string') {
    reader.anchors.set(node.anchor, node);
    if (row !== undefined) reader.anchorRows.set(node, row);
  }
  if (isAlias(node)) return readAlias(node, row, depth, reader);
  if (isScalar(node)) return readScalar(node, reader);
  reader.openNodes.add(node);
  const value = isSeq(node)
    ? node.items.map((item, index) => readMember(index, item as Node | null, depth, reader))
    : isMap(node)
      ? readMap(node.items as Pair<Node, Node | null>[], depth, reader)
      : null;
  reader.openNodes.delete(node);
  return value;
}

function readMember(
  step: string | number,
  node: Node | null,
  depth: number,
  reader: ValueReader,
  key?: Node,
): YamlValue {
  reader.path.push(step);
  const value = readNode(node, depth + 1, reader, key);
  reader.path.pop();
  return value;
}

function limitError(node: Node, depth: number, reader: ValueReader): string | undefined {
  if (depth > MAX_DEPTH) return `the manifest is nested too deeply here; at most ${MAX_DEPTH} levels are read`;
  // Report this once, at the node that exceeds the limit. The remaining nodes are skipped.
  if (reader.nodes === MAX_NODES)
    return `the manifest has too many values; at most ${MAX_NODES} are read, including those behind aliases`;
  if ((isMap(node) || isSeq(node)) && node.items.length > MAX_MEMBERS)
    return `this has ${node.items.length} members; at most ${MAX_MEMBERS} are read`;
  if (reader.openNodes.has(node)) return 'this alias refers to a value that contains it';
  return undefined;
}

function readAlias(node: Alias, row: number | undefined, depth: number, reader: ValueReader): YamlValue {
  const { source: name } = node;
  const target = reader.anchors.get(name);
  if (target === undefined) {
    reader.findings.push(
      syntaxAt(node, `there is no anchor "&${name}" before this alias; add it, or remove the alias`),
    );
    return null;
  }
  if (reader.openNodes.has(target)) {
    reader.findings.push(syntaxAt(node, `the alias "*${name}" refers to a value that contains it`));
    return null;
  }
  const targetRow = reader.anchorRows.get(target);
  if (row !== undefined && targetRow !== undefined) reader.positions.setAlias(row, targetRow);
  if (reader.nodes > MAX_NODES) return null;
  reader.openAliases += 1;
  const value = readNode(target, depth, reader);
  reader.openAliases -= 1;
  return value;
}

function readScalar(node: Node & { value: unknown }, reader: ValueReader): YamlValue {
  const { value } = node;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    reader.findings.push(syntaxAt(node, 'a number must be finite; write a number, or a string in quotes'));
    return null;
  }
  return value === null || typeof value === 'boolean' || typeof value === 'number' ? value : String(value);
}

function readMap(pairs: readonly Pair<Node, Node | null>[], depth: number, reader: ValueReader): YamlValue {
  const members = new Map<string, YamlValue>();
  for (const pair of pairs) {
    if (!isScalar(pair.key) || typeof pair.key.value !== 'string') {
      reader.findings.push(syntaxAt(pair.key, 'a key must be a string; put it in quotes'));
    } else if (pair.key.value === '<<' && pair.key.type === 'PLAIN') {
      reader.findings.push(syntaxAt(pair.key, 'merge keys ("<<") are not part of YAML 1.2; write the keys out'));
    } else if (members.has(pair.key.value)) {
      const message = `the key "${pair.key.value}" appears twice; remove one of the two`;
      const related = { path: [...reader.path, pair.key.value], message: 'the first one' };
      reader.findings.push({ ...syntaxAt(pair.key, message), related });
    } else if (reader.nodes <= MAX_NODES) {
      const { key, value } = pair;
      setKey(pair.key.value, key, reader);
      members.set(pair.key.value, readMember(pair.key.value, value, depth, reader, key));
    }
  }
  // fromEntries defines own properties, so a key "__proto__" is safe.
  return Object.fromEntries(members);
}

function setKey(name: string, key: Node, { openAliases, positions }: ValueReader): void {
  const { start, end } = nodeOffsets(key);
  if (openAliases === 0) positions.setKey(name, start, end);
}

function syntaxAt(node: Node, message: string): Finding {
  const { start, end } = nodeOffsets(node);
  return syntaxError(start, end, message);
}

function nodeOffsets(node: Node | null | undefined): OffsetRange {
  return { start: node?.range?.[0] ?? 0, end: node?.range?.[1] ?? 0 };
}

function nodeKind(node: Node | null | undefined): ValueKind {
  if (isMap(node)) return node.flow === true ? FLOW_MAP : BLOCK_MAP;
  if (isSeq(node)) return node.flow === true ? FLOW_LIST : BLOCK_LIST;
  return SCALAR;
}
