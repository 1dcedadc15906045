import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ProxyServer } from 'http-proxy-3';

/** The library requires a `target`, but the gateway chooses the endpoint itself. */
const PLACEHOLDER = new URL('http://upstream.invalid');

/** A request that the library dispatches. */
interface DispatchedRequest {
  readonly isHandshake: boolean;
  forward(): void;
}

/** The first passes of the library. A pass before them that returns true is the only one. */
const FIRST_PASSES = { web: 'deleteLength', ws: 'checkMethodAndHeader' } as const;

const proxy = new ProxyServer({ target: PLACEHOLDER });
for (const type of ['web', 'ws'] as const)
  proxy.before(type, FIRST_PASSES[type], (request: unknown): true => {
    (request as DispatchedRequest).forward();
    return true;
  });

/** The library only passes it on. */
const NO_RESPONSE = { on: () => NO_RESPONSE };
const NO_BYTES = Buffer.alloc(0);

/**
 * Forwards a request as a pass of http-proxy-3. The gateway uses only the library's dispatch, and replaces its passes: they rewrite paths,
 * join repeated headers, remove the framing of DELETE bodies, and hang when an upstream dies. So the library gets a request without the parts
 * that only these passes read.
 */
export function forwardAsProxyPass(request: DispatchedRequest): void {
  const dispatched = request as unknown as IncomingMessage;
  if (request.isHandshake) proxy.ws(dispatched, NO_RESPONSE as unknown as Socket, NO_BYTES);
  else proxy.web(dispatched, NO_RESPONSE as unknown as ServerResponse);
}
