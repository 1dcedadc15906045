import type { Exchange } from '../exchange.ts';
import { isBearer } from '../request/authenticate.ts';
import type { RequestHead } from '../request/request-head.ts';
import { isServerOptions } from '../request/request-target.ts';
import { isPreflight } from '../response/cors.ts';
import type { ReplayFacts } from './request-record.ts';

/** The longest domain name (RFC 1035 section 2.3.4) with a port. */
const MAX_HOST = 259;

/** Returns `undefined` if `log.replay` is off. */
export function replayFactsOf(exchange: Exchange): ReplayFacts | undefined {
  const { plan, principal, head, target } = exchange;
  const { replay } = plan.log;
  if (replay === undefined) return undefined;
  const host = exchange.forwardedInfo?.host ?? head?.host;
  return {
    manifest: replay.manifest,
    roles: principal && plan.auth?.role.heldBy(principal),
    credential: head && credentialOf(head),
    mediaType: head?.contentType === undefined ? undefined : replay.mediaType(head.contentType),
    queryNames: target && replay.queryNames(target.query),
    host: host === undefined || host.length > MAX_HOST ? undefined : host.toLowerCase(),
    kind: head && kindOf(exchange, head),
  };
}

function credentialOf({ authorization }: RequestHead): ReplayFacts['credential'] {
  if (authorization === undefined) return 'none';
  return isBearer(authorization) ? 'bearer' : 'other';
}

function kindOf({ handshake, request, cors, target, route }: Exchange, head: RequestHead): ReplayFacts['kind'] {
  if (handshake !== undefined) return 'websocket';
  if (isServerOptions(request)) return 'server-options';
  const isDecidedWithoutRoute = cors !== undefined && target !== undefined && route === undefined;
  return isDecidedWithoutRoute && isPreflight(request, head) ? 'preflight' : undefined;
}
