import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Endpoint, Upstream } from '../../settings/upstream-definition.ts';
import { isWebSocketOriginAllowed, type OriginFacts } from './websocket-handshake.ts';

/** The reason why the gateway ends a long-lived exchange: a reload changed its access or its route, or the process stops. */
export type EndReason = 'access_changed' | 'route_changed' | 'going_away';

/** The parts of an exchange that decide whether it may continue under a new plan. */
interface LongLivedExchange extends OriginFacts {
  readonly route: Route | undefined;
  readonly isTunnel: boolean;
}

interface OpenExchange {
  readonly end: (reason: EndReason) => void;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The open WebSockets and event streams of a server. They continue after a reload that does not change their route or
 * access; the others end after the grace period. A download is not long-lived, because it ends by itself.
 */
export class LongLivedExchanges {
  readonly #open = new Map<LongLivedExchange, OpenExchange>();

  /** @param end ends the exchange: with a close frame for a WebSocket, for example */
  add(exchange: LongLivedExchange, end: OpenExchange['end']): void {
    this.#open.set(exchange, { end, timer: undefined });
  }

  delete(exchange: LongLivedExchange): void {
    if (this.#open.size === 0) return;
    clearTimeout(this.#open.get(exchange)?.timer);
    this.#open.delete(exchange);
  }

  /** Ends all exchanges that are not already ending. */
  endAll(reason: EndReason): void {
    for (const exchange of this.#open.keys()) this.#end(exchange, reason);
  }

  /** Checks all exchanges against the new plan. Returns the number of exchanges that will end. */
  revalidate({ routes, reload }: Plan): number {
    if (this.#open.size === 0) return 0;
    const byId = new Map(routes.map((route) => [route.id, route]));
    let endingCount = 0;
    for (const [exchange, open] of this.#open) {
      const { route } = exchange;
      const reason = route && endReasonOf(exchange, route, byId.get(route.id));
      if (reason === undefined) {
        clearTimeout(open.timer);
        open.timer = undefined;
      } else {
        endingCount += 1;
        open.timer ??= setTimeout(() => this.#end(exchange, reason), reload.graceMs).unref();
      }
    }
    return endingCount;
  }

  /** Removes the exchange first, because ending it takes time and must not start twice. */
  #end(exchange: LongLivedExchange, reason: EndReason): void {
    const open = this.#open.get(exchange);
    this.delete(exchange);
    open?.end(reason);
  }
}

function endReasonOf(exchange: LongLivedExchange, route: Route, next: Route | undefined): EndReason | undefined {
  if (next === undefined) return 'route_changed';
  if (exchange.isTunnel && next.websocket && !isWebSocketOriginAllowed(exchange, next)) return 'access_changed';
  if (accessKeyOf(route) !== accessKeyOf(next)) return 'access_changed';
  return isSameRoute(route, next) ? undefined : 'route_changed';
}

function accessKeyOf({ access, auth }: Route): string {
  return access === 'protected' ? `protected ${auth?.tokensKey} ${auth?.role.key}` : access;
}

function isSameRoute(route: Route, next: Route): boolean {
  const keyOf = ({ methods, path, websocket }: Route) => JSON.stringify([methods, path, websocket]);
  return keyOf(route) === keyOf(next) && hasSameEndpoints(route.upstream, next.upstream);
}

/** True if the next upstream has all endpoints with the same TLS identity. Changed limits do not affect open connections. */
function hasSameEndpoints(upstream: Upstream | undefined, next: Upstream | undefined): boolean {
  if (upstream === undefined || next === undefined) return false;
  const keyOf = ({ url, serverName }: Endpoint) => `${url.href} ${serverName}`;
  const nextKeys = new Set(next.endpoints.map(keyOf));
  const isSame = upstream.id === next.id && upstream.tlsKey === next.tlsKey;
  return isSame && upstream.endpoints.every((endpoint) => nextKeys.has(keyOf(endpoint)));
}
