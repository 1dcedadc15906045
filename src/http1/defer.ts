/** Work for the end of this turn of the event loop. */
export interface DeferredTask {
  runDeferred(): void;
}

let tasks: DeferredTask[] = [];

/**
 * Runs a task once everything that the kernel has ready for this process has been read. All waiting tasks share one turn of the
 * event loop.
 */
export function defer(task: DeferredTask): void {
  if (tasks.length === 0) setImmediate(runTasks);
  tasks.push(task);
}

function runTasks(): void {
  const due = tasks;
  tasks = [];
  for (const task of due) task.runDeferred();
}
