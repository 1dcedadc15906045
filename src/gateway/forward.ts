import { ProxyServer, type ServerOptions } from 'http-proxy-3';
import type { NameResolver } from '../dns/resolver.ts';
import type { Log } from '../log.ts';
import type { Inspector, Plan, Route, Upstream } from '../plan/plan.ts';
import type { Exchange } from './exchange.ts';
import type { Head } from './message.ts';
import type { Target } from './path.ts';
import type { AnswerReceiver } from './receiver.ts';
import type { LiveTarget, TargetNews } from './upstream/live-target.ts';
import { LiveUpstream, type UpstreamStatus } from './upstream/live-upstream.ts';
import { Transfer } from './upstream/transfer.ts';

/** A request that was matched and authorised. */
export interface Outgoing {
  readonly exchange: Exchange;
  readonly head: Head;
  readonly target: Target;
  readonly route: Route;
  /** The body that was read and checked; `undefined`: it is streamed from the client. */
  readonly body: Buffer | undefined;
  /** A longer body that is streamed fails. */
  readonly limitBytes: number;
  /** Looks at a body that is streamed. */
  readonly inspector: Inspector | undefined;
  readonly receiver: AnswerReceiver;
}

export interface Forwarder {
  /** Sends a request on. What comes of it, failures too, goes to the client. */
  send(outgoing: Outgoing): void;
  /** Keeps what is known of the upstreams of this plan, connections above all, and lets the others drain and close. */
  adopt(plan: Plan): void;
  readonly upstreams: readonly UpstreamStatus[];
  /** Lets all exchanges end, then closes. */
  close(): Promise<void>;
}

/**
 * http-proxy-3 with a pass of our own before its `stream` passes. As they come, those rewrite paths, join
 * repeated headers, unframe the bodies of DELETE and hang where an upstream dies; ours does the exchange on
 * connections of our own (upstream/wire), raw header lists both ways, a WebSocket's handshake like any request.
 */
export function createForwarder(plan: Plan, log: Log, resolver: NameResolver): Forwarder {
  const live = new Map<string, LiveUpstream>();
  const tell = (upstream: Upstream, target: LiveTarget, news: TargetNews) =>
    log.logger.warn({ upstream: upstream.id, target: target.url, news }, 'upstream target');

  const exchange = (_request: unknown, _to: unknown, options: ServerOptions): true => {
    const { outgoing } = options as ForwardOptions;
    const { upstream } = outgoing.route;
    const known = live.get(upstream.key);
    const taken = known ?? new LiveUpstream(upstream, resolver, tell);
    new Transfer(outgoing, taken).start();
    // A request that began by an older plan, to an upstream that is no more.
    if (known === undefined) void taken.close();
    return true;
  };
  const proxy = new ProxyServer({});
  // It listens to a handshake's socket, and throws where nobody else listens to it; the tunnel ends by itself.
  proxy.on('error', () => undefined);
  proxy.before('web', 'stream', exchange);
  proxy.before('ws', 'stream', exchange);

  const adopt = ({ upstreams }: Plan) => {
    const kept = new Set(upstreams.map(({ key }) => key));
    for (const [key, gone] of live) {
      if (kept.has(key)) continue;
      live.delete(key);
      void gone.close();
    }
    for (const upstream of upstreams)
      if (!live.has(upstream.key)) live.set(upstream.key, new LiveUpstream(upstream, resolver, tell));
  };
  adopt(plan);
  return {
    send(outgoing) {
      const { request, response, handshake } = outgoing.exchange;
      const options: ForwardOptions = { target: PLACEHOLDER, outgoing };
      if (handshake === undefined) proxy.web(request, response, options);
      else proxy.ws(request, handshake.socket, NOTHING, options);
    },
    adopt,
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
const NOTHING = Buffer.alloc(0);

interface ForwardOptions extends ServerOptions {
  readonly outgoing: Outgoing;
}
