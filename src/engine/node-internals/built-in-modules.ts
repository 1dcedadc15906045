import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/** Runs an operation that may wait for the file system. */
type RunOperation = <Result>(operation: () => Result) => Result;

/**
 * Replaces the asynchronous file functions of Node in the calling thread: they run on that thread instead of the thread pool. Other threads
 * of the process are not affected. Call it before any module imports these functions by name from a package of CommonJS.
 *
 * The pool has four threads, which also verify tokens, compress responses and write the log. Four calls to a mount that hangs would stop the
 * gateway. chokidar has no option for other file functions.
 *
 * @throws Error if an import still finds the functions of Node
 */
export function bypassThreadPool(run: RunOperation): void {
  const { lstatSync, readdirSync, readlinkSync, realpathSync, statSync, watch } = fs;
  const onThread =
    <Args extends unknown[], Result>(operation: (...args: Args) => Result) =>
    async (...args: Args): Promise<Result> =>
      run(() => operation(...args));
  const stat = onThread(statSync);
  Object.assign(fs.promises, {
    lstat: onThread(lstatSync),
    readdir: onThread(readdirSync),
    readlink: onThread(readlinkSync),
    realpath: onThread(realpathSync.native),
    stat,
  });
  // `watch` accesses the path, which may hang.
  Object.assign(fs, { watch: (...args: Parameters<typeof watch>) => run(() => watch(...args)) });
  syncBuiltinESMExports();
  if (process.getBuiltinModule('node:fs/promises').stat !== (stat as unknown))
    throw new Error('this version of Node does not let a thread replace its file functions');
}

/** Loads `node:http`. An import would read all exports, and some load a WebSocket client, which takes 15 MB and 40 ms. */
export const loadHttp = () => process.getBuiltinModule('node:http');
