import { bothReceive } from '../comparisons/matched-routes.ts';
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
  if (request === undefined || !bothReceive(sides, pair, 'GET', path)) return undefined;
  return { request: withHeaders({ ...request, method: 'GET' }, [...HANDSHAKE, ...headers]) };
}
