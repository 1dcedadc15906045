import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { FileEnvironment } from '../../engine/manifest/source.ts';

/**
 * Counts the file operations of a worker thread in memory shared with its parent. The count is odd during an operation
 * and grows with each one, so that the parent can tell a slow thread from one that hangs.
 */
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
  };
}

/**
 * Replaces the asynchronous file functions of Node in the calling thread: they run on that thread instead of the thread
 * pool, and count as operations. Other threads of the process are not affected.
 *
 * The pool has four threads, which also verify tokens, compress responses and write the log. Four calls to a mount that
 * hangs would stop the gateway. chokidar has no option for other file functions, so this function replaces those of `node:fs`.
 */
export function bypassThreadPool(operations: OperationCounter): void {
  const { lstatSync, readdirSync, readlinkSync, realpathSync, statSync, watch } = fs;
  const onThread =
    <Args extends unknown[], Result>(operation: (...args: Args) => Result) =>
    async (...args: Args): Promise<Result> =>
      runOperation(operations, () => operation(...args));
  Object.assign(fs.promises, {
    lstat: onThread(lstatSync),
    readdir: onThread(readdirSync),
    readlink: onThread(readlinkSync),
    realpath: onThread(realpathSync.native),
    stat: onThread(statSync),
  });
  // `watch` accesses the path, which may hang.
  const watchInOperation = (...args: Parameters<typeof watch>) => runOperation(operations, () => watch(...args));
  Object.assign(fs, { watch: watchInOperation });
  syncBuiltinESMExports();
}
