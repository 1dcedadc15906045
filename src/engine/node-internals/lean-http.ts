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
