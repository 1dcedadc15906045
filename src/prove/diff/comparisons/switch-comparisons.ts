import type { Manifest, RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Route } from '../../../engine/plan/route-definition.ts';
import type {
  Comparisons,
  DiffContext,
  DiffFinding,
  DiffRequest,
  DiffWitness,
  MatchedRoutePair,
} from '../difference.ts';
import { bothReceive, findingAtKey, matchedRoutes } from '../matched-routes.ts';
import {
  hasValidParameters,
  invalidWitness,
  validRequest,
  withCaller,
  withHeaders,
} from '../witnesses/sample-witnesses.ts';

export const switchComparisons: Comparisons = {
  'websocket-opened': {
    severity: 'warning',
    description: 'A route now accepts WebSocket handshakes.',
    find: (sides) => changedSwitches(sides, WEBSOCKET, true, 'now accepts WebSocket handshakes'),
  },
  'websocket-closed': {
    severity: 'info',
    description: 'A route no longer accepts WebSocket handshakes.',
    find: (sides) => changedSwitches(sides, WEBSOCKET, false, 'no longer accepts WebSocket handshakes'),
  },
  'websocket-origins-widened': {
    severity: 'warning',
    description: 'A route accepts WebSockets from pages of more origins.',
    find: (sides) => changedOrigins(sides, ({ before, now }) => isMore(before, now), 'more'),
  },
  'websocket-origins-narrowed': {
    severity: 'info',
    description: 'A route accepts WebSockets from pages of fewer origins.',
    find: (sides) => changedOrigins(sides, ({ before, now }) => isMore(now, before), 'fewer'),
  },
  'encoded-slash-kept': {
    severity: 'warning',
    description: 'A route now accepts paths with an encoded slash.',
    find: (sides) => changedSwitches(sides, ENCODED_SLASH, true, 'now accepts encoded slashes'),
  },
  'encoded-slash-refused': {
    severity: 'info',
    description: 'A route now refuses paths with an encoded slash.',
    find: (sides) => changedSwitches(sides, ENCODED_SLASH, false, 'now refuses encoded slashes'),
  },
};

export const validationComparisons: Comparisons = {
  'validation-reported': {
    severity: 'warning',
    description: 'A route only reports invalid requests, and forwards them.',
    find: (sides) => changedSwitches(sides, REPORT, true, 'now only reports invalid requests (it refused them)'),
  },
  'validation-enforced': {
    severity: 'info',
    description: 'A route now refuses invalid requests.',
    find: (sides) => changedSwitches(sides, REPORT, false, 'now refuses invalid requests (it only reported them)'),
  },
};

/** A setting of a route that is on or off. */
interface Switch {
  readonly key: string;
  readonly isOn: (entry: RouteEntry) => boolean;
  readonly witnessOf?: (sides: DiffContext, pair: MatchedRoutePair) => DiffWitness | undefined;
  /** False if the switch has no effect on the requests of a pair for which no witness was found. */
  readonly mayHaveEffect?: (pair: MatchedRoutePair) => boolean;
}

const WEBSOCKET: Switch = {
  key: 'websocket',
  isOn: ({ websocket }) => websocket !== false,
  witnessOf: (sides, pair) => handshakeWitness(sides, pair),
};
const ENCODED_SLASH: Switch = {
  key: 'encodedSlash',
  isOn: ({ encodedSlash }) => encodedSlash === 'keep',
  witnessOf: encodedSlashWitness,
  // A literal path never has an encoded slash.
  mayHaveEffect: ({ from, to }) =>
    from.route.id === to.route.id && [from, to].some(({ pattern }) => pattern.some(({ kind }) => kind !== 'literal')),
};

const REPORT: Switch = {
  key: 'validation',
  isOn: ({ validation }: RouteEntry) => validation === 'report',
  witnessOf: invalidWitness,
};

/** Yields a finding for each pair whose switch was turned on, or off. */
export function* changedSwitches(
  sides: DiffContext,
  { key, isOn, witnessOf, mayHaveEffect = () => true }: Switch,
  to: boolean,
  message: string,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    if (isOn(pair.from.entry) === to || isOn(pair.to.entry) !== to) continue;
    const witness = witnessOf?.(sides, pair);
    const hasEffect = witness !== undefined || mayHaveEffect(pair);
    if (hasEffect) yield findingAtKey(pair, key, message, witness);
  }
}

type Origins = Readonly<Record<'before' | 'now', readonly string[]>>;

/** Compares routes that accept handshakes on both sides. `websocket-opened` and `websocket-closed` report the others. */
function* changedOrigins(
  sides: DiffContext,
  isMatch: (origins: Origins) => boolean,
  change: string,
): Generator<DiffFinding> {
  const message = `now accepts WebSockets from pages of ${change} origins`;
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

/** A handshake (RFC 6455 section 1.3). */
const HANDSHAKE = [
  ['Connection', 'Upgrade'],
  ['Upgrade', 'websocket'],
  ['Sec-WebSocket-Version', '13'],
  ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ=='],
].flat();

/** Returns a WebSocket handshake that both routes receive. @param headers further headers */
function handshakeWitness(
  sides: DiffContext,
  pair: MatchedRoutePair,
  headers: readonly string[] = [],
): DiffWitness | undefined {
  const request = validRequest(sides, pair);
  const path = request?.url.replace(/\?.*/, '') ?? '';
  if (request === undefined || !bothReceive(sides, pair, 'GET', path)) return undefined;
  return { request: withHeaders({ ...request, method: 'GET' }, [...HANDSHAKE, ...headers]) };
}

/** Returns a request with an encoded slash that one route receives and the other one refuses. */
function encodedSlashWitness(sides: DiffContext, pair: MatchedRoutePair): DiffWitness | undefined {
  const request = validRequest(sides, pair) ?? pair.request;
  if (request === undefined) return undefined;
  const [path = '', query = ''] = request.url.split(/(?=\?)/, 2);
  const candidates = slashedPaths(path).map((slashed): DiffRequest => ({ ...request, url: slashed + query }));
  const { old, next } = sides;
  const [side, other, route] = pair.from.route.keepsEncodedSlash ? [old, next, pair.from] : [next, old, pair.to];
  const matching = candidates.filter(
    (candidate) => matchIn(side, candidate) === route.route && matchIn(other, candidate)?.id !== route.route.id,
  );
  const found = matching.find((candidate) => hasValidParameters(route, candidate)) ?? matching[0];
  return found && { request: withCaller(found, pair) };
}

/** Other routes are unlikely to have these segments. */
const SLASHED = 'a%2Fb7';

/** Returns the path with an encoded slash in each segment, and in a new one. */
function slashedPaths(path: string): string[] {
  const segments = path.replace(/\/$/, '').split('/');
  const changed = segments.slice(1).map((_, index) => segments.with(index + 1, SLASHED).join('/'));
  return [...changed.reverse(), [...segments, SLASHED].join('/')];
}

/** Returns the route of a request with an encoded slash. If no route keeps it, such a request is refused before. */
function matchIn({ plan: { router } }: DiffContext['old'], { method, url }: DiffRequest): Route | undefined {
  return router.keepsEncodedSlash ? router.match(method, url.replace(/\?.*/, '')) : undefined;
}
