import { charge } from '../../engine/schema/cost-budget.ts';
import { WORD } from './character-set.ts';
import type { PatternAutomaton, PatternState } from './pattern-automaton.ts';
import { automatonOf } from './schema-text.ts';

/** Larger automata are not compared. */
const MAX_STATES = 200;
const MAX_RANGES = 200;
const MAX_KNOWN = 10_000;

/** The first pattern with each minimal automaton. */
const representatives = new Map<string, string>();

/**
 * Returns the first known pattern that matches the same texts: `^aa$` and `^a{2}$` have one representative. Large patterns,
 * and those whose characters depend on Unicode properties, represent themselves.
 */
export function representativeOf(pattern: string): string {
  const automaton = automatonOf(pattern);
  const key = automaton === undefined ? undefined : minimalAutomaton(automaton);
  if (key === undefined) return pattern;
  const known = representatives.get(key);
  if (known !== undefined) return known;
  if (representatives.size >= MAX_KNOWN) representatives.clear();
  representatives.set(key, pattern);
  return pattern;
}

/** A state with the index of the next one for each range of characters. */
interface Row {
  readonly isAccepted: boolean;
  readonly next: readonly number[];
}

/** Returns a text that is equal for automata that match the same texts. */
function minimalAutomaton(automaton: PatternAutomaton): string | undefined {
  const starts = rangeStarts(automaton);
  const rows = starts && rowsOf(automaton, starts);
  if (rows === undefined) return undefined;
  return textOf(rows, classesOf(rows), starts as readonly number[]);
}

/** Returns the first characters of the ranges that the automaton treats alike; `undefined` if they are not known. */
function rangeStarts({ sets }: PatternAutomaton): readonly number[] | undefined {
  if (sets.some(({ isOpen }) => isOpen)) return undefined;
  const bounds = [...sets, WORD].flatMap((set) => set.bounds);
  const starts = new Set([0, ...bounds.flatMap((bound) => [bound, bound + 1])]);
  const sorted = [...starts].filter((start) => start <= 0x10ffff).sort((one, other) => one - other);
  return sorted.length > MAX_RANGES ? undefined : sorted;
}

function rowsOf(automaton: PatternAutomaton, starts: readonly number[]): readonly Row[] | undefined {
  const indexes = new Map<PatternState, number>([[automaton.start, 0]]);
  const rows: Row[] = [];
  for (const state of indexes.keys()) {
    if (indexes.size > MAX_STATES) return undefined;
    charge(starts.length);
    const next = starts.map((start) => {
      const reached = automaton.next(state, start);
      const index = indexes.get(reached) ?? indexes.size;
      indexes.set(reached, index);
      return index;
    });
    rows.push({ isAccepted: automaton.accepts(state), next });
  }
  return rows;
}

/** Returns the class of each state: states of one class accept the same continuations. */
function classesOf(rows: readonly Row[]): readonly number[] {
  let classes: readonly number[] = rows.map(({ isAccepted }) => Number(isAccepted));
  for (let count = 0; ; ) {
    const known = new Map<string, number>();
    classes = rows.map(({ next }, index) => {
      charge(next.length);
      const key = [classes[index], ...next.map((state) => classes[state])].join(' ');
      const number = known.get(key) ?? known.size;
      known.set(key, number);
      return number;
    });
    if (known.size === count) return classes;
    count = known.size;
  }
}

/** Prints the classes in the order in which they are reached. Ranges with the same transitions everywhere are merged. */
function textOf(rows: readonly Row[], classes: readonly number[], starts: readonly number[]): string {
  const order = new Map<number, number>([[0, 0]]);
  const numbers = new Map<number, number>([[classes[0] ?? 0, 0]]);
  const lines: string[] = [];
  for (const index of order.keys()) {
    const row = rows[index] as Row;
    const steps: string[] = [];
    let last: number | undefined;
    for (const [range, reached] of row.next.entries()) {
      const found = classes[reached] ?? 0;
      const number = numbers.get(found) ?? numbers.size;
      if (!numbers.has(found)) {
        numbers.set(found, number);
        order.set(reached, number);
      }
      if (number !== last) steps.push(`${starts[range]}:${number}`);
      last = number;
    }
    lines.push(`${row.isAccepted ? '+' : '-'}${steps.join(' ')}`);
  }
  return lines.join('\n');
}
