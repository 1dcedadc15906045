import { ProxyServer, type ServerOptions } from 'http-proxy-3';
import type { Exchange } from '../exchange.ts';

interface ProxyOptions extends ServerOptions {
  readonly pass: () => void;
}

/** The library requires a `target`, but the gateway chooses the endpoint itself. */
const PLACEHOLDER = new URL('http://upstream.invalid');
/** The tunnel reads the early data of a handshake itself. */
const NO_EARLY_DATA = Buffer.alloc(0);

const proxy = new ProxyServer({});
// Without a listener, the library throws on an error of a handshake's socket. The tunnel handles these errors itself.
proxy.on('error', () => undefined);
for (const type of ['web', 'ws'] as const)
  proxy.before(type, 'stream', (_request: unknown, _response: unknown, options: ServerOptions): true => {
    (options as ProxyOptions).pass();
    return true;
  });

/**
 * Calls `forward` as a pass of http-proxy-3. The gateway uses only the library's dispatch, and replaces its `stream` passes: they
 * rewrite paths, join repeated headers, remove the framing of DELETE bodies, and hang when an upstream dies.
 */
export function forwardAsProxyPass(exchange: Exchange, forward: () => Promise<void>): Promise<void> {
  const { request, response, handshake } = exchange;
  let forwarding = Promise.resolve();
  const options: ProxyOptions = {
    target: PLACEHOLDER,
    pass: () => {
      forwarding = forward();
    },
  };
  if (handshake === undefined) proxy.web(request, response, options);
  else proxy.ws(request, handshake.socket, NO_EARLY_DATA, options);
  return forwarding;
}
