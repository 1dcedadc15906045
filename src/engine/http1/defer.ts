/** A task for the end of this turn of the event loop. */
export interface DeferredTask {
  runDeferred(): void;
}

let tasks: DeferredTask[] = [];

/** Runs a task after the process has read all bytes that the kernel has ready. All waiting tasks run in one turn of the event loop. */
export function defer(task: DeferredTask): void {
  if (tasks.length === 0) setImmediate(runTasks);
  tasks.push(task);
}

function runTasks(): void {
  const due = tasks;
  tasks = [];
  for (const task of due) task.runDeferred();
}
