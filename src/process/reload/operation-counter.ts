import type { FileEnvironment } from '../../engine/manifest/source.ts';

/** Counts file operations in memory shared with the parent: odd during one, and growing while the thread does not hang. */
export type OperationCounter = Int32Array<SharedArrayBuffer>;

export function createOperationCounter(): OperationCounter {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Runs a function that may wait for the file system. A nested call counts as part of the outer one. */
export function runOperation<Result>(operations: OperationCounter, operation: () => Result): Result {
  if (Atomics.load(operations, 0) % 2 !== 0) return operation();
  Atomics.add(operations, 0, 1);
  try {
    return operation();
  } finally {
    Atomics.add(operations, 0, 1);
  }
}

/** Returns the same file access with every operation counted. */
export function countOperations(files: FileEnvironment, operations: OperationCounter): FileEnvironment {
  const count = <Args extends readonly unknown[], Result>(operation: (...args: Args) => Result) => {
    return (...args: Args): Result => runOperation(operations, () => operation(...args));
  };
  return {
    ...files,
    readFile: count(files.readFile),
    listFolder: count(files.listFolder),
    modifiedMs: count(files.modifiedMs),
    readSecret: files.readSecret && count(files.readSecret),
  };
}
