import type { DiffContext, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { validRequest, withHeaders } from './forwarded-request.ts';

/** A handshake (RFC 6455 section 1.3). */
const HANDSHAKE = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
].flat();

/** Returns a WebSocket handshake that both routes receive. @param headers further headers */
export function handshakeWitness(
  sides: DiffContext,
  pair: MatchedRoutePair,
  headers: readonly string[] = [],
): DiffWitness | undefined {
  const request = validRequest(sides, pair);
  const path = request?.url.replace(/\?.*/, '') ?? '';
  const { old, next } = sides;
  const isMatch =
    old.plan.router.match('GET', path) === pair.from.route && next.plan.router.match('GET', path) === pair.to.route;
  return request && isMatch
    ? { request: withHeaders({ ...request, method: 'GET' }, [...HANDSHAKE, ...headers]) }
    : undefined;
}
