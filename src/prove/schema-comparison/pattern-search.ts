import { alphabetOf } from './character-set.ts';
import type { PatternAutomaton, PatternState } from './pattern-automaton.ts';
import type { SearchBudget } from './search-budget.ts';

/** A pattern that a text must match or, if negative, must not match. */
export interface PatternCondition {
  readonly automaton: PatternAutomaton;
  readonly isPositive: boolean;
}

/** Bounds of a length in code points. */
export interface LengthRange {
  readonly min: number;
  readonly max: number;
}

interface SearchNode {
  readonly states: readonly PatternState[];
  readonly length: number;
  readonly codePoint: number;
  readonly previous: SearchNode | undefined;
}

/**
 * Yields texts that meet all conditions, the shortest first. It walks the automata of the patterns side by side, with one
 * character for all that no pattern distinguishes.
 *
 * @param variety the number of texts to continue from the same states
 */
export function* searchTexts(
  conditions: readonly PatternCondition[],
  { min, max }: LengthRange,
  variety: number,
  budget: SearchBudget,
): Generator<string> {
  const alphabet = alphabetOf(conditions.flatMap(({ automaton }) => automaton.sets));
  const nodes = conditions.reduce((sum, { automaton }) => sum + automaton.size, 0);
  // The first visit of a state walks the complete automaton for each character.
  const effort = (alphabet.length * nodes) >> 9;
  const visits = new Map<string, number>();
  let queue: SearchNode[] = [
    { states: conditions.map(({ automaton }) => automaton.start), length: 0, codePoint: 0, previous: undefined },
  ];
  let remaining = budget.effort.states;
  while (queue.length > 0) {
    const nextQueue: SearchNode[] = [];
    for (const node of queue) {
      if (node.length >= min && isAccepted(conditions, node)) yield textOf(node);
      if (node.length >= max) continue;
      budget.spend(effort);
      for (const codePoint of alphabet) {
        const states = conditions.map(({ automaton }, at) =>
          automaton.next(node.states[at] as PatternState, codePoint),
        );
        if (isHopeless(conditions, states)) continue;
        const length = node.length + 1;
        const key = `${Math.min(length, min)} ${states.map(({ id }) => id).join(' ')}`;
        const count = visits.get(key) ?? 0;
        if (count >= variety) continue;
        visits.set(key, count + 1);
        remaining -= 1;
        if (remaining < 0) {
          budget.limit();
          return;
        }
        nextQueue.push({ states, length, codePoint, previous: node });
      }
    }
    budget.spend(1 + (nextQueue.length >> 3));
    queue = nextQueue;
  }
}

function isAccepted(conditions: readonly PatternCondition[], { states }: SearchNode): boolean {
  return conditions.every(
    ({ automaton, isPositive }, index) => automaton.accepts(states[index] as PatternState) === isPositive,
  );
}

/** True if no continuation meets all conditions. */
function isHopeless(conditions: readonly PatternCondition[], states: readonly PatternState[]): boolean {
  return conditions.some(({ isPositive }, index) => (isPositive ? states[index]?.isDead : states[index]?.isMatched));
}

function textOf(node: SearchNode): string {
  const characters: string[] = [];
  for (let at: SearchNode | undefined = node; at?.previous !== undefined; at = at.previous)
    characters.push(String.fromCodePoint(at.codePoint));
  return characters.reverse().join('');
}
