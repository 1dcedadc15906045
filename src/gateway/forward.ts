import { ProxyServer, type ServerOptions } from 'http-proxy-3';
import { buildConnector, type Dispatcher, Pool } from 'undici';
import type { Inspector, Plan, Upstream } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';
import { requestHeaders } from './headers.ts';
import { InspectedBody } from './inspected-body.ts';
import type { Head } from './message.ts';
import type { Target } from './path.ts';
import type { AnswerReceiver } from './receiver.ts';
import { RequestBody } from './request-body.ts';

/** A request that was matched and authorised. */
export interface Outgoing {
  readonly exchange: Exchange;
  readonly head: Head;
  readonly target: Target;
  readonly upstream: Upstream;
  /** The body that was read and checked; `undefined`: it is streamed from the client. */
  readonly body: Buffer | undefined;
  /** A longer body that is streamed fails. */
  readonly limitBytes: number;
  /** Looks at a body that is streamed. */
  readonly inspector: Inspector | undefined;
  readonly receiver: AnswerReceiver;
}

export interface Forwarder {
  /** Sends a request on. What comes of it, failures too, comes to the receiver. */
  send(outgoing: Outgoing): void;
  /** Keeps the connections to the upstreams of this plan, and lets the others drain and close. */
  adopt(plan: Plan): void;
  /** Lets all exchanges end, then closes. */
  close(): Promise<void>;
}

/**
 * http-proxy-3 with a pass of our own before its `stream` passes. As they come, those rewrite paths, join
 * repeated headers, unframe the bodies of DELETE and hang where an upstream dies; ours does the exchange with
 * undici, raw header lists both ways, a WebSocket's handshake like any request.
 */
export function createForwarder(): Forwarder {
  const pools = new Map<string, Pool>();
  const poolOf = (upstream: Upstream): Pool => {
    const known = pools.get(upstream.key);
    if (known !== undefined) return known;
    const pool = createPool(upstream);
    pools.set(upstream.key, pool);
    return pool;
  };

  const exchange = (_request: unknown, _to: unknown, options: ServerOptions): true => {
    const { outgoing } = options as ForwardOptions;
    poolOf(outgoing.upstream).dispatch(dispatchOptions(outgoing), outgoing.receiver as Dispatcher.DispatchHandler);
    return true;
  };
  const proxy = new ProxyServer({});
  // It listens to a handshake's socket, and throws where nobody else listens to it; the tunnel ends by itself.
  proxy.on('error', () => undefined);
  proxy.before('web', 'stream', exchange);
  proxy.before('ws', 'stream', exchange);

  return {
    send(outgoing) {
      const { request, response, handshake } = outgoing.exchange;
      const options: ForwardOptions = { target: outgoing.upstream.url, outgoing };
      if (handshake === undefined) proxy.web(request, response, options);
      else proxy.ws(request, handshake.socket, NOTHING, options);
    },
    adopt(plan) {
      const kept = new Set(plan.upstreams.map(({ key }) => key));
      for (const [key, pool] of pools) {
        if (kept.has(key)) continue;
        pools.delete(key);
        void pool.close();
      }
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
}

/** What came early is the tunnel's own to pass on. */
const NOTHING = Buffer.alloc(0);

interface ForwardOptions extends ServerOptions {
  readonly outgoing: Outgoing;
}

function createPool(upstream: Upstream): Pool {
  const connect = buildConnector({ timeout: upstream.connectTimeoutMs, allowH2: false });
  return new Pool(upstream.url.origin, {
    connect: (options, callback) => connect(options, (...made) => callback(...withResetsAsFaults(made))),
    headersTimeout: upstream.responseTimeoutMs,
    bodyTimeout: upstream.idleTimeoutMs,
    // undici 8 would offer HTTP/2 by itself; everything here is measured and tested with HTTP/1.1.
    allowH2: false,
    pipelining: 1,
  });
}

/** undici takes a reset for the end of a body without framing; by another name it takes it for the fault it is. */
function withResetsAsFaults(made: buildConnector.CallbackArgs): buildConnector.CallbackArgs {
  made[1]?.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') error.code = 'UND_ERR_SOCKET';
  });
  return made;
}

function dispatchOptions(outgoing: Outgoing): Dispatcher.DispatchOptions {
  const { exchange, head, target, upstream, body } = outgoing;
  const { request } = exchange;
  const headers = requestHeaders(request.rawHeaders, {
    requestId: exchange.id,
    peer: request.socket.remoteAddress ?? 'unknown',
    protocol: 'http',
    host: head.host,
  });
  if (typeof head.body === 'number') headers.push('Content-Length', String(head.body));
  return {
    path: target.path + target.query,
    method: request.method as Dispatcher.HttpMethod,
    headers,
    body: body ?? streamedBody(outgoing),
    ...(exchange.handshake === undefined ? {} : { upgrade: 'websocket' }),
    // Otherwise the client's Host would choose the certificate that is asked for.
    ...(upstream.serverName === undefined ? {} : { servername: upstream.serverName }),
  };
}

function streamedBody({ exchange, head, limitBytes, inspector }: Outgoing): RequestBody | null {
  if (head.body === undefined) return null;
  exchange.askForBody();
  return inspector === undefined
    ? new RequestBody(exchange.request, limitBytes)
    : new InspectedBody(exchange, limitBytes, inspector);
}
