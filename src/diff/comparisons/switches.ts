import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Comparison, Found, Sides } from '../difference.ts';
import { atKey, successions } from './changed-routes.ts';

export const websocketOpened: Comparison = {
  id: 'websocket-opened',
  severity: 'warning',
  what: 'A handshake may turn the connection into a tunnel.',
  find: (sides) => switched(sides, OPEN, true, 'takes WebSocket handshakes now'),
};

export const websocketClosed: Comparison = {
  id: 'websocket-closed',
  severity: 'info',
  what: 'A handshake turns no connection into a tunnel any more.',
  find: (sides) => switched(sides, OPEN, false, 'takes no WebSocket handshakes any more'),
};

export const encodedSlashKept: Comparison = {
  id: 'encoded-slash-kept',
  severity: 'warning',
  what: 'Paths with an encoded slash are let through.',
  find: (sides) => switched(sides, KEEPING, true, 'lets encoded slashes through now'),
};

export const encodedSlashRefused: Comparison = {
  id: 'encoded-slash-refused',
  severity: 'info',
  what: 'Paths with an encoded slash are refused.',
  find: (sides) => switched(sides, KEEPING, false, 'refuses encoded slashes now'),
};

const OPEN = { key: 'websocket', of: ({ websocket }: RouteEntry) => websocket !== false };
const KEEPING = { key: 'encodedSlash', of: ({ encodedSlash }: RouteEntry) => encodedSlash === 'keep' };

function* switched(
  sides: Sides,
  { key, of }: { readonly key: string; readonly of: (entry: RouteEntry) => boolean },
  to: boolean,
  message: string,
): Generator<Found> {
  for (const pair of successions(sides))
    if (of(pair.from.entry) !== to && of(pair.to.entry) === to) yield atKey(pair, key, message);
}
