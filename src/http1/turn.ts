/** What is to happen in its turn. */
export interface Turn {
  onTurn(): void;
}

let waiting: Turn[] = [];

/**
 * Has it happen when all that the kernel had ready for this process has been read, with all others that wait for
 * that: one turn of the event loop for many is what it costs.
 */
export function soon(turn: Turn): void {
  if (waiting.length === 0) setImmediate(takeTurns);
  waiting.push(turn);
}

function takeTurns(): void {
  const turns = waiting;
  waiting = [];
  for (const turn of turns) turn.onTurn();
}
