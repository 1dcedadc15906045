/** What is to happen in its turn. */
export interface DeferredTask {
  runDeferred(): void;
}

let waiting: DeferredTask[] = [];

/**
 * Has it happen when all that the kernel had ready for this process has been read, with all others that wait for
 * that: one turn of the event loop for many is what it costs.
 */
export function defer(turn: DeferredTask): void {
  if (waiting.length === 0) setImmediate(runTasks);
  waiting.push(turn);
}

function runTasks(): void {
  const turns = waiting;
  waiting = [];
  for (const turn of turns) turn.runDeferred();
}
