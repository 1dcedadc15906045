import { attempt } from '../../engine/attempt.ts';
import { getOrCreate } from '../../engine/get-or-create.ts';
import { charge } from '../../engine/schema/cost-budget.ts';
import { type CharacterSet, WORD } from './character-set.ts';
import { type PatternAssertion, type PatternNode, parsePatternSyntax } from './pattern-syntax.ts';

/** The state of a pattern after some characters. */
export interface PatternState {
  readonly id: number;
  /** True if the text matches, however it continues. */
  readonly isMatched: boolean;
  /** True if no continuation of the text matches. */
  readonly isDead: boolean;
  /** The characters before the state: none, or the kind of the last one. */
  readonly before: Edge;
  readonly nodes: readonly number[];
}

type Edge = 'none' | 'word' | 'other';

type AutomatonNode =
  | { readonly kind: 'characters'; readonly set: CharacterSet; readonly next: number }
  | { readonly kind: 'empty'; readonly next: readonly number[] }
  | { readonly kind: 'assertion'; readonly assertion: PatternAssertion; readonly next: number }
  | { readonly kind: 'match' };

/** Repetitions such as `{1000}` copy a part. A larger automaton is too slow to walk. */
const MAX_NODES = 4_000;

/** The automaton of a pattern. It matches anywhere in a text, as the keyword `pattern` does, and is built while it is walked. */
export class PatternAutomaton {
  readonly sets: readonly CharacterSet[];
  readonly start: PatternState;
  readonly #nodes: readonly AutomatonNode[];
  readonly #entry: number;
  readonly #canRestart: boolean;
  readonly #states = new Map<string, PatternState>();
  readonly #transitions = new Map<number, PatternState>();

  private constructor(nodes: readonly AutomatonNode[], entry: number) {
    this.#nodes = nodes;
    this.#entry = entry;
    this.sets = nodes.flatMap((node) => (node.kind === 'characters' ? [node.set] : []));
    this.#canRestart = INNER_EDGES.some((before) => EDGES.some((after) => this.#closure([], before, after).length > 0));
    this.start = this.#stateOf([], 'none', false);
  }

  /** Returns `undefined` if the pattern has unsupported syntax or is too large. */
  static of(pattern: string): PatternAutomaton | undefined {
    const tree = parsePatternSyntax(pattern);
    if (tree === undefined) return undefined;
    const nodes: AutomatonNode[] = [{ kind: 'match' }];
    const entry = addNodes(tree, 0, nodes);
    return entry === undefined ? undefined : new PatternAutomaton(nodes, entry);
  }

  get size(): number {
    return this.#nodes.length;
  }

  next(state: PatternState, codePoint: number): PatternState {
    if (state.isMatched || state.isDead) return state;
    const key = state.id * 0x110000 + codePoint;
    const known = this.#transitions.get(key);
    if (known !== undefined) return known;
    const kind = WORD.has(codePoint) ? 'word' : 'other';
    const closure = this.#closure(state.nodes, state.before, kind);
    const reached = closure.flatMap((index) => {
      const node = this.#nodes[index];
      return node?.kind === 'characters' && node.set.has(codePoint) ? [node.next] : [];
    });
    const next = this.#stateOf(reached, kind, closure.includes(MATCH));
    this.#transitions.set(key, next);
    return next;
  }

  /** True if the text matches if it ends here. */
  accepts({ isMatched, isDead, nodes, before }: PatternState): boolean {
    return isMatched || (!isDead && this.#closure(nodes, before, 'none').includes(MATCH));
  }

  matches(text: string): boolean {
    let state = this.start;
    charge(text.length);
    for (const character of text) state = this.next(state, character.codePointAt(0) ?? 0);
    return this.accepts(state);
  }

  #stateOf(reached: readonly number[], before: Edge, isMatched: boolean): PatternState {
    const nodes = isMatched ? [] : [...new Set(reached)].sort((a, b) => a - b);
    const key = isMatched ? 'matched' : `${before} ${nodes.join(' ')}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const isDead = !isMatched && nodes.length === 0 && before !== 'none' && !this.#canRestart;
    const state = { id: this.#states.size, isMatched, isDead, before, nodes };
    this.#states.set(key, state);
    return state;
  }

  /** Returns the nodes reachable without a character. A match may begin at every position, so the entry is always included. */
  #closure(nodes: readonly number[], before: Edge, after: Edge): number[] {
    const reached = new Set<number>();
    const pending = [...nodes, this.#entry];
    for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
      if (reached.has(index)) continue;
      charge(NODE_COST);
      reached.add(index);
      const node = this.#nodes[index];
      if (node?.kind === 'empty') pending.push(...node.next);
      if (node?.kind === 'assertion' && holds(node.assertion, before, after)) pending.push(node.next);
    }
    return [...reached].filter((index) => this.#nodes[index]?.kind === 'characters' || index === MATCH);
  }
}

const MATCH = 0;
/** The cost to visit a node, in the units of `charge`. */
const NODE_COST = 5;
const INNER_EDGES: readonly Edge[] = ['word', 'other'];
const EDGES: readonly Edge[] = [...INNER_EDGES, 'none'];

function holds(assertion: PatternAssertion, before: Edge, after: Edge): boolean {
  if (assertion === 'start') return before === 'none';
  if (assertion === 'end') return after === 'none';
  return ((before === 'word') !== (after === 'word')) === (assertion === 'boundary');
}

/** Adds the nodes of a syntax tree that continue at `next`. Returns the first of them; `undefined` if there are too many. */
function addNodes(tree: PatternNode, next: number, nodes: AutomatonNode[]): number | undefined {
  if (nodes.length > MAX_NODES) return undefined;
  const add = (node: AutomatonNode) => nodes.push(node) - 1;
  if (tree.kind === 'characters') return add({ kind: 'characters', set: tree.set, next });
  if (tree.kind === 'assertion') return add({ kind: 'assertion', assertion: tree.assertion, next });
  if (tree.kind === 'sequence')
    return tree.parts.reduceRight<number | undefined>(
      (after, part) => (after === undefined ? undefined : addNodes(part, after, nodes)),
      next,
    );
  if (tree.kind === 'repeat') return addRepetition(tree, next, nodes);
  const entries = tree.options.map((option) => addNodes(option, next, nodes));
  return entries.includes(undefined) ? undefined : add({ kind: 'empty', next: entries as number[] });
}

type Repetition = Extract<PatternNode, { kind: 'repeat' }>;

function addRepetition({ part, min, max }: Repetition, next: number, nodes: AutomatonNode[]): number | undefined {
  if (Math.max(min, max === Number.POSITIVE_INFINITY ? 0 : max) > MAX_NODES) return undefined;
  let entry: number | undefined = next;
  if (max === Number.POSITIVE_INFINITY) {
    const loop = { kind: 'empty' as const, next: [next] };
    entry = nodes.push(loop) - 1;
    const body = addNodes(part, entry, nodes);
    if (body === undefined) return undefined;
    loop.next.push(body);
  }
  for (let count = max === Number.POSITIVE_INFINITY ? min : max; count > 0 && entry !== undefined; count -= 1) {
    const body = addNodes(part, entry, nodes);
    if (body === undefined) return undefined;
    entry = count > min ? nodes.push({ kind: 'empty', next: [next, body] }) - 1 : body;
  }
  return entry;
}

const automata = new Map<string, PatternAutomaton | undefined>();
/** The cache holds the patterns of one comparison; a process that compares many manifests must not keep all of them. */
const MAX_CACHED = 1_000;

/** Returns the automaton of a pattern; `undefined` if it has unsupported syntax or is too large. */
export function automatonOf(pattern: string): PatternAutomaton | undefined {
  if (automata.size >= MAX_CACHED && !automata.has(pattern)) automata.clear();
  return getOrCreate(automata, pattern, () => PatternAutomaton.of(pattern));
}

/** True if a text matches a pattern. Without an automaton, JavaScript decides, which differs only in rare syntax. */
export function matchesPattern(pattern: string, text: string): boolean {
  const automaton = automatonOf(pattern);
  return automaton?.matches(text) ?? attempt(() => new RegExp(pattern, 'u').test(text)) ?? false;
}
