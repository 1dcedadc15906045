import { ProxyServer, type ServerOptions } from 'http-proxy-3';
import type { NameResolver } from '../../dns/name-resolver.ts';
import type { ConnectionBudget } from '../../http1/connection-budget.ts';
import type { Log } from '../../log/log.ts';
import type { StreamValidator } from '../../plan/body/stream-validation.ts';
import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Upstream } from '../../plan/settings/upstream-definition.ts';
import type { Exchange } from '../exchange.ts';
import type { RequestHead } from '../request/request-head.ts';
import type { RequestTarget } from '../request/request-target.ts';
import type { ClientResponse } from '../response/client-response.ts';
import type { EndpointEvent, LiveEndpoint } from './live-endpoint.ts';
import { LiveUpstream, type UpstreamStatus } from './live-upstream.ts';
import { UpstreamExchange } from './upstream-exchange.ts';

/** A request that was matched and authorised. */
export interface ForwardRequest {
  readonly exchange: Exchange;
  readonly head: RequestHead;
  readonly target: RequestTarget;
  readonly route: Route;
  /** The body that was read and checked; `undefined`: it is streamed from the client. */
  readonly body: Buffer | undefined;
  /** A longer body that is streamed fails. */
  readonly limitBytes: number;
  /** Looks at a body that is streamed. */
  readonly streamValidator: StreamValidator | undefined;
  readonly clientResponse: ClientResponse;
}

export interface Forwarder {
  /** Sends a request on. What comes of it, failures too, goes to the client. */
  send(outgoing: ForwardRequest): void;
  /** Keeps what is known of the upstreams of this plan, connections above all, and lets the others drain and close. */
  activate(plan: Plan): void;
  readonly upstreams: readonly UpstreamStatus[];
  /** Lets all exchanges end, then closes. */
  close(): Promise<void>;
}

/**
 * http-proxy-3 with a pass of our own before its `stream` passes. As they come, those rewrite paths, join
 * repeated headers, unframe the bodies of DELETE and hang where an upstream dies; ours does the exchange on
 * connections of our own (upstream/wire), raw header lists both ways, a WebSocket's handshake like any request.
 */
export function createForwarder(plan: Plan, log: Log, resolver: NameResolver, budget: ConnectionBudget): Forwarder {
  const live = new Map<string, LiveUpstream>();
  const tell = (upstream: Upstream, endpoint: LiveEndpoint, event: EndpointEvent) =>
    log.logger.warn({ upstream: upstream.id, endpoint: endpoint.url, event }, 'upstream endpoint');

  const exchange = (_request: unknown, _to: unknown, options: ServerOptions): true => {
    const { forwardRequest } = options as ForwardOptions;
    const { upstream } = forwardRequest.route;
    const known = live.get(upstream.key);
    const taken = known ?? new LiveUpstream(upstream, resolver, budget, tell);
    new UpstreamExchange(forwardRequest, taken).forward();
    // A request that began by an older plan, to an upstream that is no more.
    if (known === undefined) void taken.close();
    return true;
  };
  const proxy = new ProxyServer({});
  // It listens to a handshake's socket, and throws where nobody else listens to it; the tunnel ends by itself.
  proxy.on('error', () => undefined);
  proxy.before('web', 'stream', exchange);
  proxy.before('ws', 'stream', exchange);

  const activate = ({ upstreams }: Plan) => {
    const kept = new Set(upstreams.map(({ key }) => key));
    for (const [key, gone] of live) {
      if (kept.has(key)) continue;
      live.delete(key);
      void gone.close();
    }
    for (const upstream of upstreams)
      if (!live.has(upstream.key)) live.set(upstream.key, new LiveUpstream(upstream, resolver, budget, tell));
  };
  activate(plan);
  return {
    send(forwardRequest) {
      const { request, response, handshake } = forwardRequest.exchange;
      const options: ForwardOptions = { target: PLACEHOLDER, forwardRequest };
      if (handshake === undefined) proxy.web(request, response, options);
      else proxy.ws(request, handshake.socket, NO_BYTES, options);
    },
    activate,
    get upstreams() {
      return [...live.values()].map(({ status }) => status);
    },
    async close() {
      await Promise.all([...live.values()].map((upstream) => upstream.close()));
    },
  };
}

/** The library asks for a target before its passes; ours chooses one itself. */
const PLACEHOLDER = new URL('http://upstream.invalid');

/** What came early is the tunnel's own to pass on. */
const NO_BYTES = Buffer.alloc(0);

interface ForwardOptions extends ServerOptions {
  readonly forwardRequest: ForwardRequest;
}
