import { getOrCreate } from '../../engine/get-or-create.ts';
import { charge } from '../../engine/schema/cost-budget.ts';
import { WORD } from './character-set.ts';
import { automatonOf, type PatternAutomaton, type PatternState } from './pattern-automaton.ts';
import { digest } from './schema-content.ts';

/** Larger automata are not compared. */
const MAX_STATES = 200;
const MAX_RANGES = 200;
const MAX_KNOWN = 10_000;

/** The first pattern with each minimal automaton. */
const representatives = new Map<string, string>();

/** Returns the first known pattern for the same texts: `^aa$` for `^a{2}$`. Large ones and those with Unicode properties stay. */
export function representativeOf(pattern: string): string {
  const automaton = automatonOf(pattern);
  const key = automaton === undefined ? undefined : minimalAutomaton(automaton);
  if (key === undefined) return pattern;
  if (representatives.size >= MAX_KNOWN && !representatives.has(key)) representatives.clear();
  return getOrCreate(representatives, key, () => pattern);
}

/**
 * Returns a text that is equal for automata that match the same texts. In each round, the name of a state tells how it continues
 * for one more character. When no further states differ, the names describe the minimal automaton.
 */
function minimalAutomaton(automaton: PatternAutomaton): string | undefined {
  const starts = rangeStarts(automaton);
  const rows = starts && rowsOf(automaton, starts);
  if (rows === undefined) return undefined;
  let names: readonly string[] = rows.map(() => '');
  for (let count = 0; ; ) {
    const texts = rows.map((row) => textOf(row, names, starts as readonly number[]));
    const different = new Set(texts);
    if (different.size === count) return [names[0], ...[...different].sort()].join('\n');
    count = different.size;
    names = texts.map(digest);
  }
}

/** Prints a state with the names of those that follow. Neighbouring ranges with the same name are merged. */
function textOf({ isAccepted, next }: Row, names: readonly string[], starts: readonly number[]): string {
  charge(next.length);
  const steps = next.map((state) => names[state]);
  const merged = steps.flatMap((name, range) => (name === steps[range - 1] ? [] : [`${starts[range]}:${name}`]));
  return `${isAccepted ? '+' : '-'}${merged.join(' ')}`;
}

/** A state with the index of the next one for each range of characters. */
interface Row {
  readonly isAccepted: boolean;
  readonly next: readonly number[];
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
