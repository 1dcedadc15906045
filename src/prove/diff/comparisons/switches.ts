import type { RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Comparison, DiffContext, DiffFinding, DiffWitness } from '../difference.ts';
import { encodedSlashWitness } from '../witnesses/encoded-slash-request.ts';
import { handshakeWitness } from '../witnesses/websocket-requests.ts';
import { findingAtKey, type MatchedRoutePair, matchedRoutes } from './matched-routes.ts';

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

interface Switch {
  readonly key: string;
  readonly isOn: (entry: RouteEntry) => boolean;
  readonly witnessOf: (sides: DiffContext, pair: MatchedRoutePair) => DiffWitness | undefined;
  /** False if the switch has no effect on the requests of a pair for which no witness was found. */
  readonly mayHaveEffect: (pair: MatchedRoutePair) => boolean;
}

const WEBSOCKET: Switch = {
  key: 'websocket',
  isOn: ({ websocket }) => websocket !== false,
  witnessOf: (sides, pair) => handshakeWitness(sides, pair),
  mayHaveEffect: () => true,
};
const ENCODED_SLASH: Switch = {
  key: 'encodedSlash',
  isOn: ({ encodedSlash }) => encodedSlash === 'keep',
  witnessOf: encodedSlashWitness,
  // A literal path never has an encoded slash.
  mayHaveEffect: ({ from, to }) =>
    from.route.id === to.route.id && [from, to].some(({ pattern }) => pattern.some(({ kind }) => kind !== 'literal')),
};

function* changedSwitches(
  sides: DiffContext,
  { key, isOn, witnessOf, mayHaveEffect }: Switch,
  to: boolean,
  message: string,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    if (isOn(pair.from.entry) === to || isOn(pair.to.entry) !== to) continue;
    const witness = witnessOf(sides, pair);
    const hasEffect = witness !== undefined || mayHaveEffect(pair);
    if (hasEffect) yield findingAtKey(pair, key, message, witness);
  }
}
