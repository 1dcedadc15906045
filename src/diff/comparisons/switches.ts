import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const websocketOpened: Comparison = {
  id: 'websocket-opened',
  severity: 'warning',
  description: 'A handshake may turn the connection into a tunnel.',
  find: (sides) => changedSwitches(sides, OPEN, true, 'takes WebSocket handshakes now'),
};

export const websocketClosed: Comparison = {
  id: 'websocket-closed',
  severity: 'info',
  description: 'A handshake turns no connection into a tunnel any more.',
  find: (sides) => changedSwitches(sides, OPEN, false, 'takes no WebSocket handshakes any more'),
};

export const encodedSlashKept: Comparison = {
  id: 'encoded-slash-kept',
  severity: 'warning',
  description: 'Paths with an encoded slash are let through.',
  find: (sides) => changedSwitches(sides, KEEPING, true, 'lets encoded slashes through now'),
};

export const encodedSlashRefused: Comparison = {
  id: 'encoded-slash-refused',
  severity: 'info',
  description: 'Paths with an encoded slash are refused.',
  find: (sides) => changedSwitches(sides, KEEPING, false, 'refuses encoded slashes now'),
};

const OPEN = { key: 'websocket', of: ({ websocket }: RouteEntry) => websocket !== false };
const KEEPING = { key: 'encodedSlash', of: ({ encodedSlash }: RouteEntry) => encodedSlash === 'keep' };

function* changedSwitches(
  sides: DiffContext,
  { key, of }: { readonly key: string; readonly of: (entry: RouteEntry) => boolean },
  to: boolean,
  message: string,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides))
    if (of(pair.from.entry) !== to && of(pair.to.entry) === to) yield findingAtKey(pair, key, message);
}
