/**
 * Removes the WebSocket client from the exports of `node:http` in this thread. An import of `node:http` reads all exports, and these
 * load the client, which takes 15 MB and 40 ms. Call it before any module imports `node:http`.
 */
export function omitWebSocketClient(): void {
  for (const name of ['WebSocket', 'CloseEvent', 'MessageEvent'])
    Reflect.deleteProperty(process.getBuiltinModule('node:http'), name);
}
