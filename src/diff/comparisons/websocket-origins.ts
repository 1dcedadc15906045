import type { Manifest, RouteEntry } from '../../manifest/manifest.generated.ts';
import type { Comparison, Found, Sides } from '../difference.ts';
import { atKey, type Succession, successions } from './changed-routes.ts';

export const websocketOriginsWidened: Comparison = {
  id: 'websocket-origins-widened',
  severity: 'warning',
  what: 'Pages of more origins may open a WebSocket.',
  find: (sides) =>
    changed(sides, ({ before, now }) => isMore(before, now), 'lets pages of more origins open a WebSocket now'),
};

export const websocketOriginsNarrowed: Comparison = {
  id: 'websocket-origins-narrowed',
  severity: 'info',
  what: 'Pages of fewer origins may open a WebSocket.',
  find: (sides) =>
    changed(sides, ({ before, now }) => isMore(now, before), 'lets pages of fewer origins open a WebSocket now'),
};

type Origins = Readonly<Record<'before' | 'now', readonly string[]>>;

/** Of routes that take handshakes on both sides: `websocket-opened` and `websocket-closed` report the others. */
function* changed(sides: Sides, isFound: (origins: Origins) => boolean, message: string): Generator<Found> {
  for (const pair of successions(sides)) {
    if (pair.from.entry.websocket === false || pair.to.entry.websocket === false) continue;
    if (isFound(originsOf(pair, sides))) yield atKey(pair, 'websocket', message);
  }
}

function originsOf({ from, to }: Succession, { old, next }: Sides): Origins {
  return { before: allowedBy(from.entry, old.manifest), now: allowedBy(to.entry, next.manifest) };
}

/** Stands for the origins of the gateway's own host in a list. */
const SAME_HOST = 'same host';

function allowedBy({ websocket }: RouteEntry, { cors }: Manifest): readonly string[] {
  return typeof websocket === 'object' ? websocket.origins : [SAME_HOST, ...(cors?.origins ?? [])];
}

function isMore(less: readonly string[], more: readonly string[]): boolean {
  return !less.includes('*') && more.some((origin) => !less.includes(origin));
}
