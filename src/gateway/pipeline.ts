import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Makes the judge of what is pipelined on a server's connections. Behind a request whose answer closes the
 * connection nothing is a request any more (RFC 9112 section 9.6): Node would still hand it out.
 */
export function createPipelineGuard(): (request: IncomingMessage, response: ServerResponse) => boolean {
  const latest = new WeakMap<Socket, ServerResponse>();
  return ({ socket, headers }, response) => {
    if (latest.get(socket)?.shouldKeepAlive === false) return false;
    // Node drops what it read together with a request that asks for an upgrade: what comes next may be its body.
    if (headers.upgrade !== undefined) response.shouldKeepAlive = false;
    latest.set(socket, response);
    return true;
  };
}
