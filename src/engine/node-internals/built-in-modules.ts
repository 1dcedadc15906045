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

/**
 * Removes the WebSocket client from the exports of `node:http` in this thread. An import of `node:http` reads all exports, and these
 * load the client, which takes 15 MB and 40 ms. Call it before any module imports `node:http`.
 *
 * @throws Error if this version of Node keeps the exports
 */
export function omitWebSocketClient(): void {
  const http = process.getBuiltinModule('node:http');
  for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent'])
    if (!Reflect.deleteProperty(http, name)) throw new Error(`this version of Node does not let ${name} go`);
}
