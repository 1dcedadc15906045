import type { FileEnvironment } from '../manifest/file-environment.ts';

/**
 * Shared with the thread that begins another one: its number is odd while the other one waits for the file system, and
 * grows with every operation.
 */
export type OperationCounter = Int32Array<SharedArrayBuffer>;

export function createOperationCounter(): OperationCounter {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Calls a function that may wait for the file system. A call inside another one belongs to that one. */
export function runOperation<Made>(operations: OperationCounter, act: () => Made): Made {
  if (Atomics.load(operations, 0) % 2 !== 0) return act();
  Atomics.add(operations, 0, 1);
  try {
    return act();
  } finally {
    Atomics.add(operations, 0, 1);
  }
}

/** The same files, with every operation on them counted. */
export function countOperations(files: FileEnvironment, operations: OperationCounter): FileEnvironment {
  const count = <Args extends readonly unknown[], Made>(operation: (...args: Args) => Made) => {
    return (...args: Args): Made => runOperation(operations, () => operation(...args));
  };
  return {
    env: files.env,
    readFile: count(files.readFile),
    listFolder: count(files.listFolder),
    modifiedMs: count(files.modifiedMs),
  };
}
