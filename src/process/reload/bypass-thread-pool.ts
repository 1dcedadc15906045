import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type OperationCounter, runOperation } from './operation-counter.ts';

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
