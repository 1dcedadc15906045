import type { Manifest, RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Comparison, DiffContext, DiffFinding, DiffWitness } from '../difference.ts';
import { handshakeWitness } from '../witnesses/websocket-requests.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

export const websocketOriginsWidened: Comparison = {
  id: 'websocket-origins-widened',
  severity: 'warning',
  description: 'A route accepts WebSockets from pages of more origins.',
  find: (sides) =>
    changedOrigins(
      sides,
      ({ before, now }) => isMore(before, now),
      'now accepts WebSockets from pages of more origins',
    ),
};

export const websocketOriginsNarrowed: Comparison = {
  id: 'websocket-origins-narrowed',
  severity: 'info',
  description: 'A route accepts WebSockets from pages of fewer origins.',
  find: (sides) =>
    changedOrigins(
      sides,
      ({ before, now }) => isMore(now, before),
      'now accepts WebSockets from pages of fewer origins',
    ),
};

type Origins = Readonly<Record<'before' | 'now', readonly string[]>>;

/** Compares routes that accept handshakes on both sides. `websocket-opened` and `websocket-closed` report the others. */
function* changedOrigins(
  sides: DiffContext,
  isMatch: (origins: Origins) => boolean,
  message: string,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    if (pair.from.entry.websocket === false || pair.to.entry.websocket === false) continue;
    const origins = originsOf(pair, sides);
    if (isMatch(origins)) yield findingAtKey(pair, 'websocket', message, originWitness(sides, pair, origins));
  }
}

function originsOf({ from, to }: MatchedRoutePair, { old, next }: DiffContext): Origins {
  return { before: allowedOrigins(from.entry, old.manifest), now: allowedOrigins(to.entry, next.manifest) };
}

/** Stands for the origins of the gateway's own host in a list. */
const SAME_HOST = 'same host';

function allowedOrigins({ websocket }: RouteEntry, { cors }: Manifest): readonly string[] {
  return typeof websocket === 'object' ? websocket.origins : [SAME_HOST, ...(cors?.origins ?? [])];
}

/** Returns a handshake from a page that one side accepts. */
function originWitness(sides: DiffContext, pair: MatchedRoutePair, { before, now }: Origins): DiffWitness | undefined {
  const accepted = ['https://page.example', ...before, ...now].filter(
    (origin) => origin !== '*' && accepts(before, origin) !== accepts(now, origin),
  );
  const [origin] = accepted;
  if (origin === undefined) return undefined;
  const headers = origin === SAME_HOST ? ['Host', HOST, 'Origin', `https://${HOST}`] : ['Origin', origin];
  return handshakeWitness(sides, pair, headers);
}

/** Any host: the witness has it in `Host` and in `Origin`. */
const HOST = 'gateway.example';

function accepts(origins: readonly string[], origin: string): boolean {
  return origins.includes('*') || origins.includes(origin);
}

function isMore(less: readonly string[], more: readonly string[]): boolean {
  return !less.includes('*') && more.some((origin) => !less.includes(origin));
}
