import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Comparison, Found, Sides } from '../difference.ts';
import { atKey, successions } from './changed-routes.ts';

export const websocketOpened: Comparison = {
  id: 'websocket-opened',
  severity: 'warning',
  what: 'A handshake may turn the connection into a tunnel.',
  find: (sides) => switched(sides, 'websocket', true, 'takes WebSocket handshakes now'),
};

export const websocketClosed: Comparison = {
  id: 'websocket-closed',
  severity: 'info',
  what: 'A handshake turns no connection into a tunnel any more.',
  find: (sides) => switched(sides, 'websocket', false, 'takes no WebSocket handshakes any more'),
};

export const encodedSlashKept: Comparison = {
  id: 'encoded-slash-kept',
  severity: 'warning',
  what: 'Paths with an encoded slash are let through.',
  find: (sides) => switched(sides, 'encodedSlash', 'keep', 'lets encoded slashes through now'),
};

export const encodedSlashRefused: Comparison = {
  id: 'encoded-slash-refused',
  severity: 'info',
  what: 'Paths with an encoded slash are refused.',
  find: (sides) => switched(sides, 'encodedSlash', 'refuse', 'refuses encoded slashes now'),
};

function* switched<Key extends 'websocket' | 'encodedSlash'>(
  sides: Sides,
  key: Key,
  to: RouteEntry[Key],
  message: string,
): Generator<Found> {
  for (const pair of successions(sides))
    if (pair.from.entry[key] !== to && pair.to.entry[key] === to) yield atKey(pair, key, message);
}
