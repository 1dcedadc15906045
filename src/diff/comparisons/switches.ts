import type { RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Comparison, DiffContext, DiffFinding } from '../difference.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const websocketOpened: Comparison = {
  id: 'websocket-opened',
  severity: 'warning',
  description: 'A route now accepts WebSocket handshakes.',
  find: (sides) => changedSwitches(sides, WEBSOCKET, true, 'now accepts WebSocket handshakes'),
};

export const websocketClosed: Comparison = {
  id: 'websocket-closed',
  severity: 'info',
  description: 'A route no longer accepts WebSocket handshakes.',
  find: (sides) => changedSwitches(sides, WEBSOCKET, false, 'no longer accepts WebSocket handshakes'),
};

export const encodedSlashKept: Comparison = {
  id: 'encoded-slash-kept',
  severity: 'warning',
  description: 'A route now accepts paths with an encoded slash.',
  find: (sides) => changedSwitches(sides, ENCODED_SLASH, true, 'now accepts encoded slashes'),
};

export const encodedSlashRefused: Comparison = {
  id: 'encoded-slash-refused',
  severity: 'info',
  description: 'A route now refuses paths with an encoded slash.',
  find: (sides) => changedSwitches(sides, ENCODED_SLASH, false, 'now refuses encoded slashes'),
};

const WEBSOCKET = { key: 'websocket', isOn: ({ websocket }: RouteEntry) => websocket !== false };
const ENCODED_SLASH = { key: 'encodedSlash', isOn: ({ encodedSlash }: RouteEntry) => encodedSlash === 'keep' };

function* changedSwitches(
  sides: DiffContext,
  { key, isOn }: { readonly key: string; readonly isOn: (entry: RouteEntry) => boolean },
  to: boolean,
  message: string,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides))
    if (isOn(pair.from.entry) !== to && isOn(pair.to.entry) === to) yield findingAtKey(pair, key, message);
}
