import type { Manifest, RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Route } from '../../../engine/plan/route-definition.ts';
import type {
  Comparison,
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

export const switchComparison: Comparison = {
  rules: {
    'websocket-opened': ['warning', 'A route now accepts WebSocket handshakes.'],
    'websocket-closed': ['info', 'A route no longer accepts WebSocket handshakes.'],
    'websocket-origins-widened': ['warning', 'A route accepts WebSockets from pages of more origins.'],
    'websocket-origins-narrowed': ['info', 'A route accepts WebSockets from pages of fewer origins.'],
    'encoded-slash-kept': ['warning', 'A route now accepts paths with an encoded slash.'],
    'encoded-slash-refused': ['info', 'A route now refuses paths with an encoded slash.'],
  },
  *find(sides) {
    yield* changedSwitch(sides, WEBSOCKET);
    yield* changedSwitch(sides, ENCODED_SLASH);
    for (const pair of matchedRoutes(sides)) yield* changedOrigins(sides, pair);
  },
};

export const validationComparison: Comparison = {
  rules: {
    'validation-reported': ['warning', 'A route only reports invalid requests, and forwards them.'],
    'validation-enforced': ['info', 'A route now refuses invalid requests.'],
  },
  find: (sides) => changedSwitch(sides, VALIDATION),
};

/** A setting of a route that is on or off. */
export interface Switch {
  readonly key: string;
  readonly isOn: (entry: RouteEntry) => boolean;
  /** Reports that the setting was turned on. */
  readonly on: readonly [rule: string, message: string];
  readonly off: readonly [rule: string, message: string];
  readonly witnessOf?: (sides: DiffContext, pair: MatchedRoutePair) => DiffWitness | undefined;
  /** False if the switch has no effect on the requests of a pair for which no witness was found. */
  readonly mayHaveEffect?: (pair: MatchedRoutePair) => boolean;
}

const WEBSOCKET: Switch = {
  key: 'websocket',
  isOn: ({ websocket }) => websocket !== false,
  on: ['websocket-opened', 'now accepts WebSocket handshakes'],
  off: ['websocket-closed', 'no longer accepts WebSocket handshakes'],
  witnessOf: (sides, pair) => handshakeWitness(sides, pair),
};
const ENCODED_SLASH: Switch = {
  key: 'encodedSlash',
  isOn: ({ encodedSlash }) => encodedSlash === 'keep',
  on: ['encoded-slash-kept', 'now accepts encoded slashes'],
  off: ['encoded-slash-refused', 'now refuses encoded slashes'],
  witnessOf: encodedSlashWitness,
  // A literal path never has an encoded slash.
  mayHaveEffect: ({ from, to }) =>
    from.route.id === to.route.id && [from, to].some(({ pattern }) => pattern.some(({ kind }) => kind !== 'literal')),
};

const VALIDATION: Switch = {
  key: 'validation',
  isOn: ({ validation }) => validation === 'report',
  on: ['validation-reported', 'now only reports invalid requests (it refused them)'],
  off: ['validation-enforced', 'now refuses invalid requests (it only reported them)'],
  witnessOf: invalidWitness,
};

/** Yields a finding for each pair whose switch was turned on or off. */
export function* changedSwitch(
  sides: DiffContext,
  { key, isOn, on, off, witnessOf, mayHaveEffect = () => true }: Switch,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    const isNowOn = isOn(pair.to.entry);
    if (isOn(pair.from.entry) === isNowOn) continue;
    const witness = witnessOf?.(sides, pair);
    const [rule, message] = isNowOn ? on : off;
    if (witness !== undefined || mayHaveEffect(pair)) yield findingAtKey(pair, rule, key, message, witness);
  }
}

type Origins = Readonly<Record<'before' | 'now', readonly string[]>>;

/** Compares routes that accept handshakes on both sides. `websocket-opened` and `websocket-closed` report the others. */
function* changedOrigins(sides: DiffContext, pair: MatchedRoutePair): Generator<DiffFinding> {
  if (pair.from.entry.websocket === false || pair.to.entry.websocket === false) return;
  const origins = originsOf(pair, sides);
  const finding = (rule: string, change: string) => {
    const message = `now accepts WebSockets from pages of ${change} origins`;
    return findingAtKey(pair, rule, 'websocket', message, originWitness(sides, pair, origins));
  };
  if (isMore(origins.before, origins.now)) yield finding('websocket-origins-widened', 'more');
  if (isMore(origins.now, origins.before)) yield finding('websocket-origins-narrowed', 'fewer');
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
