import type { Plan } from '../../plan/plan.ts';
import type { Route } from '../../plan/route-definition.ts';
import type { Endpoint, Upstream } from '../../plan/settings/upstream-definition.ts';
import type { Exchange } from '../exchange.ts';
import { isWebSocketOriginAllowed } from './websocket-origin.ts';

/** Why something that lasts has to end: who may have it is not what it was, or where it comes from; or the process stops. */
export type EndReason = 'access_changed' | 'route_changed' | 'going_away';

interface OpenExchange {
  readonly end: (reason: EndReason) => void;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The exchanges of a server that last for as long as both ends like: WebSockets and event streams. They live on over
 * a reload that leaves their route and their access as they are; others end after a grace. A download ends by itself.
 */
export class LongLivedExchanges {
  readonly #open = new Map<Exchange, OpenExchange>();

  /** @param end ends it in the way of its own kind */
  add(exchange: Exchange, end: OpenExchange['end']): void {
    this.#open.set(exchange, { end, timer: undefined });
  }

  delete(exchange: Exchange): void {
    if (this.#open.size === 0) return;
    clearTimeout(this.#open.get(exchange)?.timer);
    this.#open.delete(exchange);
  }

  /** Ends all of them now, but for those that are ending already. */
  endAll(reason: EndReason): void {
    for (const exchange of this.#open.keys()) this.#end(exchange, reason);
  }

  /** Judges all of them by the plan that is now in force; answers how many are to end. */
  revalidate({ routes, reload }: Plan): number {
    if (this.#open.size === 0) return 0;
    const byId = new Map(routes.map((route) => [route.id, route]));
    let ending = 0;
    for (const [exchange, open] of this.#open) {
      const { route } = exchange;
      const reason = route && endReasonOf(exchange, route, byId.get(route.id));
      if (reason === undefined) {
        clearTimeout(open.timer);
        open.timer = undefined;
      } else {
        ending += 1;
        open.timer ??= setTimeout(() => this.#end(exchange, reason), reload.graceMs).unref();
      }
    }
    return ending;
  }

  /** Once: what ends may take a moment, and would be ended twice in its middle. */
  #end(exchange: Exchange, reason: EndReason): void {
    const open = this.#open.get(exchange);
    this.delete(exchange);
    open?.end(reason);
  }
}

function endReasonOf(exchange: Exchange, route: Route, next: Route | undefined): EndReason | undefined {
  if (next === undefined) return 'route_changed';
  if (exchange.isTunnel && next.websocket && !isWebSocketOriginAllowed(exchange, next)) return 'access_changed';
  if (accessKeyOf(route) !== accessKeyOf(next)) return 'access_changed';
  return isSameRoute(route, next) ? undefined : 'route_changed';
}

function accessKeyOf({ access, auth }: Route): string {
  return access === 'protected' ? `protected ${auth?.verifier.key} ${auth?.role.key}` : access;
}

function isSameRoute(route: Route, next: Route): boolean {
  const placeOf = ({ methods, path, websocket }: Route) => JSON.stringify([methods, path, websocket]);
  return placeOf(route) === placeOf(next) && hasSameEndpoints(route.upstream, next.upstream);
}

/** All its targets are, known by the same certificates; other limits change nothing for what stands. */
function hasSameEndpoints(upstream: Upstream, next: Upstream): boolean {
  const placeOf = ({ url, serverName }: Endpoint) => `${url.origin} ${serverName}`;
  const places = new Set(next.endpoints.map(placeOf));
  const isSame = upstream.id === next.id && upstream.tlsKey === next.tlsKey;
  return isSame && upstream.endpoints.every((target) => places.has(placeOf(target)));
}
