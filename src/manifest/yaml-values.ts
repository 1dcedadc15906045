import { isAlias, isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';
import type { Finding } from '../problem/finding.ts';
import { syntaxError } from './syntax-error.ts';
import { nodeOffsets } from './yaml-tree.ts';

export const MAX_DEPTH = 100;
/** Counted after aliases are followed, so a few lines cannot stand for billions of nodes. */
const MAX_NODES = 500_000;
/** Of one list or map. The validator's time grows with the square of it when every member is faulty. */
const MAX_MEMBERS = 20_000;

export type YamlValue = null | boolean | number | string | readonly YamlValue[] | { readonly [key: string]: YamlValue };

/** The plain values of a tree, and its anchored nodes by their names; what cannot be read goes to `findings`. */
export function readValues(root: Node | null, findings: Finding[]): { value: YamlValue; anchors: Map<string, Node> } {
  const reader: ValueReader = { nodes: 0, path: [], openNodes: new Set(), anchors: new Map(), findings };
  return { value: readNode(root, 0, reader), anchors: reader.anchors };
}

interface ValueReader {
  nodes: number;
  /** The way to the node being read now. */
  readonly path: (string | number)[];
  /** The anchored nodes being read now: meeting one again is a circle. */
  readonly openNodes: Set<Node>;
  readonly anchors: Map<string, Node>;
  readonly findings: Finding[];
}

function readNode(node: Node | null | undefined, depth: number, reader: ValueReader): YamlValue {
  reader.nodes += 1;
  if (node === null || node === undefined) return null;
  const fault = limitError(node, depth, reader);
  if (fault !== undefined) {
    reader.findings.push(syntaxAt(node, fault));
    return null;
  }
  if ('anchor' in node && typeof node.anchor === 'string') reader.anchors.set(node.anchor, node);
  if (isAlias(node)) return readAlias(node, node.source, depth, reader);
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

function readMember(step: string | number, node: Node | null, depth: number, reader: ValueReader): YamlValue {
  reader.path.push(step);
  const value = readNode(node, depth + 1, reader);
  reader.path.pop();
  return value;
}

function limitError(node: Node, depth: number, reader: ValueReader): string | undefined {
  if (depth > MAX_DEPTH) return `the manifest is nested too deeply here; at most ${MAX_DEPTH} levels are read`;
  // Said once, at the node that went over: the rest is skipped in silence.
  if (reader.nodes === MAX_NODES)
    return `the manifest holds too many values; at most ${MAX_NODES} are read, aliases followed`;
  if ((isMap(node) || isSeq(node)) && node.items.length > MAX_MEMBERS)
    return `this holds ${node.items.length} members; at most ${MAX_MEMBERS} are read`;
  if (reader.openNodes.has(node)) return 'this alias refers to a value that contains it';
  return undefined;
}

function readAlias(node: Node, name: string, depth: number, reader: ValueReader): YamlValue {
  const target = reader.anchors.get(name);
  if (target === undefined) {
    reader.findings.push(syntaxAt(node, `no anchor "&${name}" stands before this alias`));
    return null;
  }
  if (reader.openNodes.has(target)) {
    reader.findings.push(syntaxAt(node, `the alias "*${name}" refers to a value that contains it`));
    return null;
  }
  return reader.nodes > MAX_NODES ? null : readNode(target, depth, reader);
}

function readScalar(node: Node & { value: unknown }, reader: ValueReader): YamlValue {
  const { value } = node;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    reader.findings.push(syntaxAt(node, 'a manifest holds no endless numbers; write a number, or a string in quotes'));
    return null;
  }
  return value === null || typeof value === 'boolean' || typeof value === 'number' ? value : String(value);
}

function readMap(pairs: readonly Pair<Node, Node | null>[], depth: number, reader: ValueReader): YamlValue {
  const entries: [string, YamlValue][] = [];
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

function syntaxAt(node: Node, message: string): Finding {
  const { start, end } = nodeOffsets(node);
  return syntaxError(start, end, message);
}
