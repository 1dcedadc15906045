import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type OperationCounter, runOperation } from './operation-counter.ts';

/**
 * Runs the asynchronous file functions of Node on the calling thread instead of the pool, and counts them as operations. The
 * other threads of the process keep theirs.
 *
 * The pool has four threads. They also verify tokens, compress and write the log, so four calls to a mount that hangs would
 * stop the gateway. chokidar has no option for another file system.
 */
export function bypassThreadPool(operations: OperationCounter): void {
  const { lstatSync, readdirSync, readlinkSync, realpathSync, statSync, watch } = fs;
  const onThread =
    <Args extends unknown[], Made>(operation: (...args: Args) => Made) =>
    async (...args: Args): Promise<Made> =>
      runOperation(operations, () => operation(...args));
  Object.assign(fs.promises, {
    lstat: onThread(lstatSync),
    readdir: onThread(readdirSync),
    readlink: onThread(readlinkSync),
    realpath: onThread(realpathSync.native),
    stat: onThread(statSync),
  });
  // Setting up a watch looks the path up as well.
  const watchInOperation = (...args: Parameters<typeof watch>) => runOperation(operations, () => watch(...args));
  Object.assign(fs, { watch: watchInOperation });
  syncBuiltinESMExports();
}
