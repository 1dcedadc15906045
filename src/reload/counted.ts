import type { Files } from '../world.ts';

/**
 * Shared with the thread that begins another one: its number is odd while the other one waits for the file system, and
 * grows with every operation.
 */
export type Operations = Int32Array<SharedArrayBuffer>;

export function newOperations(): Operations {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** The same files, with every operation on them counted. */
export function counted(files: Files, operations: Operations): Files {
  const count = <Args extends readonly unknown[], Made>(operation: (...args: Args) => Made) => {
    return (...args: Args): Made => {
      Atomics.add(operations, 0, 1);
      try {
        return operation(...args);
      } finally {
        Atomics.add(operations, 0, 1);
      }
    };
  };
  return {
    env: files.env,
    readFile: count(files.readFile),
    listFolder: count(files.listFolder),
    modifiedMs: count(files.modifiedMs),
  };
}
