import type { Exchange } from '../exchange.ts';
import { isBearer } from '../request/authenticate.ts';
import type { RequestHead } from '../request/request-head.ts';
import { isServerOptions } from '../request/served-request.ts';
import { isPreflight } from '../response/cors.ts';

/** The facts about a request that a replay needs beside its path. They have no token, claim, value or body. */
export interface ReplayFacts {
  /** The first digits of the hash of the manifest that decided about the request. */
  readonly manifest: string;
  /** The caller's roles that `auth.role` allows; empty for other roles; `undefined` without a verified caller. */
  readonly roles: readonly string[] | undefined;
  /** The kind of `Authorization`; `undefined` if the head of the request is not valid. */
  readonly credential: 'bearer' | 'other' | 'none' | undefined;
  readonly mediaType: string | undefined;
  /** `undefined` if the request target is not valid. */
  readonly queryNames: readonly string[] | undefined;
  readonly host: string | undefined;
  readonly kind: 'websocket' | 'preflight' | 'server-options' | undefined;
}

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
