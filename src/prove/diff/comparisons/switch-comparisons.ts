import { isDeepStrictEqual } from 'node:util';
import type { RouteEntry } from '../../../engine/manifest/manifest.generated.ts';
import type { Route } from '../../../engine/plan/route-definition.ts';
import { intersect } from '../../../engine/routing/pattern.ts';
import { HANDSHAKE } from '../../offline/request-bytes.ts';
import type { Comparison, DiffContext, DiffFinding, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { bothReceive, findingAtKey, matchedRoutes } from '../matched-routes.ts';
import type { DiffRoute } from '../side.ts';
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
    for (const pair of matchedRoutes(sides)) yield* changedOrigins(pair);
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
interface Switch {
  readonly key: string;
  readonly isOn: (entry: RouteEntry) => boolean;
  /** Reports that the setting was turned on. */
  readonly on: readonly [rule: string, message: string];
  readonly off: readonly [rule: string, message: string];
  readonly witnessOf?: (pair: MatchedRoutePair) => DiffWitness | undefined;
  /** False if the switch has no effect on the requests of a pair for which no witness was found. */
  readonly mayHaveEffect?: (pair: MatchedRoutePair) => boolean;
}

const WEBSOCKET: Switch = {
  key: 'websocket',
  isOn: ({ websocket }) => websocket !== false,
  on: ['websocket-opened', 'now accepts WebSocket handshakes'],
  off: ['websocket-closed', 'no longer accepts WebSocket handshakes'],
  witnessOf: (pair) => handshakeWitness(pair),
};
const ENCODED_SLASH: Switch = {
  key: 'encodedSlash',
  isOn: ({ encodedSlash }) => encodedSlash === 'keep',
  on: ['encoded-slash-kept', 'now accepts encoded slashes'],
  off: ['encoded-slash-refused', 'now refuses encoded slashes'],
  witnessOf: encodedSlashWitness,
  // A literal path never has an encoded slash.
  mayHaveEffect: ({ from, to }) => intersect(from.pattern, to.pattern)?.some(({ kind }) => kind !== 'literal') ?? true,
};

const VALIDATION: Switch = {
  key: 'validation',
  isOn: ({ validation }) => validation === 'report',
  on: ['validation-reported', 'now only reports invalid requests (it refused them)'],
  off: ['validation-enforced', 'now refuses invalid requests (it only reported them)'],
  witnessOf: invalidWitness,
};

/** Yields a finding for each pair whose switch was turned on or off. */
function* changedSwitch(
  sides: DiffContext,
  { key, isOn, on, off, witnessOf, mayHaveEffect = () => true }: Switch,
): Generator<DiffFinding> {
  for (const pair of matchedRoutes(sides)) {
    const isNowOn = isOn(pair.to.entry);
    if (isOn(pair.from.entry) === isNowOn) continue;
    const witness = witnessOf?.(pair);
    const [rule, message] = isNowOn ? on : off;
    if (witness !== undefined || mayHaveEffect(pair)) yield findingAtKey(pair, rule, key, message, witness);
  }
}

/** Compares routes that accept handshakes on both sides. `websocket-opened` and `websocket-closed` report the others. */
function* changedOrigins(pair: MatchedRoutePair): Generator<DiffFinding> {
  if (pair.from.entry.websocket === false || pair.to.entry.websocket === false) return;
  const [before, now] = [allowedOrigins(pair.from), allowedOrigins(pair.to)];
  const finding = (rule: string, change: string) => {
    const message = `now accepts WebSockets from pages of ${change} origins`;
    return findingAtKey(pair, rule, 'websocket', message, originWitness(pair, before, now));
  };
  if (isMore(before, now)) yield finding('websocket-origins-widened', 'more');
  if (isMore(now, before)) yield finding('websocket-origins-narrowed', 'fewer');
}

/** Stands for the origins of the gateway's own host in a list. */
const SAME_HOST = 'same host';

function allowedOrigins({ entry: { websocket }, side: { manifest } }: DiffRoute): readonly string[] {
  return typeof websocket === 'object' ? websocket.origins : [SAME_HOST, ...(manifest.cors?.origins ?? [])];
}

/** Returns a handshake from a page that one side accepts. */
function originWitness(
  pair: MatchedRoutePair,
  before: readonly string[],
  now: readonly string[],
): DiffWitness | undefined {
  const origin = ['https://page.example', ...before, ...now].find(
    (origin) => origin !== '*' && accepts(before, origin) !== accepts(now, origin),
  );
  if (origin === undefined) return undefined;
  return handshakeWitness(
    pair,
    origin === SAME_HOST ? ['Host', HOST, 'Origin', `https://${HOST}`] : ['Origin', origin],
  );
}

/** Any host: the witness has it in `Host` and in `Origin`. */
const HOST = 'gateway.example';

function accepts(origins: readonly string[], origin: string): boolean {
  return origins.includes('*') || origins.includes(origin);
}

function isMore(less: readonly string[], more: readonly string[]): boolean {
  return !less.includes('*') && more.some((origin) => !less.includes(origin));
}

/** Returns a WebSocket handshake that both routes receive. @param headers further headers */
function handshakeWitness(pair: MatchedRoutePair, headers: readonly string[] = []): DiffWitness | undefined {
  const request = validRequest(pair);
  const path = request?.url.replace(/\?.*/, '') ?? '';
  if (request === undefined || !bothReceive(pair, 'GET', path)) return undefined;
  return { request: withHeaders({ ...request, method: 'GET' }, [...Object.entries(HANDSHAKE).flat(), ...headers]) };
}

/** Returns a request with an encoded slash that one route receives and the other one refuses. */
function encodedSlashWitness(pair: MatchedRoutePair): DiffWitness | undefined {
  const request = validRequest(pair) ?? pair.request;
  if (request === undefined) return undefined;
  const [path = '', query = ''] = request.url.split(/(?=\?)/, 2);
  const [one, other] = pair.from.route.keepsEncodedSlash ? [pair.from, pair.to] : [pair.to, pair.from];
  const { method } = request;
  const matching = slashedPaths(path)
    .filter((slashed) => matchIn(one, method, slashed) === one.route)
    .filter((slashed) => matchIn(other, method, slashed)?.id !== one.route.id)
    .map((slashed) => ({ ...request, url: slashed + query }));
  const found = matching.find((candidate) => hasValidParameters(one, candidate)) ?? matching[0];
  return found && { request: withCaller(found, pair) };
}

/** Other routes are unlikely to have these segments. */
const SLASHED = 'a%2Fb7';

/** Returns the path with an encoded slash in each segment, and in new ones. */
function slashedPaths(path: string): string[] {
  const segments = path.replace(/\/$/, '').split('/');
  const changed = segments.slice(1).map((_, index) => segments.with(index + 1, SLASHED).join('/'));
  const longer = [1, 2].map((count) => [...segments, ...Array<string>(count).fill(SLASHED)].join('/'));
  return [...changed.reverse(), ...longer];
}

/** Returns the route of a path with an encoded slash. If no route keeps it, such a request is refused before. */
function matchIn({ side: { plan } }: DiffRoute, method: string, path: string): Route | undefined {
  return plan.router.keepsEncodedSlash ? plan.router.match(method, path) : undefined;
}

export const loginComparison: Comparison = {
  rules: {
    'login-removed': ['error', 'The role gate no longer checks login responses.'],
    'login-loosened': ['error', 'The gateway no longer reads tokens from a location of login responses.'],
    'login-changed': ['warning', 'The gateway reads the tokens of login responses from more locations.'],
    'login-added': ['info', 'The role gate now checks login responses.'],
  },
  *find(sides) {
    yield* changedSwitch(sides, LOGIN);
    for (const pair of matchedRoutes(sides)) yield* changedLocations(pair);
  },
};

const LOGIN: Switch = {
  key: 'login',
  isOn: ({ login }) => login !== undefined,
  on: ['login-added', 'now has a login gate'],
  off: ['login-removed', 'no longer has a login gate: the gateway does not check the tokens in its responses'],
};

function* changedLocations(pair: MatchedRoutePair): Generator<DiffFinding> {
  const [old, next] = [pair.from.entry.login, pair.to.entry.login];
  if (old === undefined || next === undefined) return;
  const [oldLocations, locations] = [tokenLocations(old), tokenLocations(next)];
  if (isDeepStrictEqual(oldLocations, locations)) return;
  // Without locations, every JWT of the response must verify.
  const isLost = oldLocations.length === 0 || oldLocations.some((one) => !locations.includes(one));
  const [before, now] = [pair.from, pair.to].map(
    ({ redactedEntry }) => tokenLocations(redactedEntry.login ?? {}).join(', ') || 'the complete response',
  );
  const message = `reads tokens from another location: ${now} (was ${before})`;
  yield findingAtKey(pair, isLost ? 'login-loosened' : 'login-changed', 'login', message);
}

function tokenLocations({ token, header }: Partial<NonNullable<RouteEntry['login']>>): string[] {
  return [...[token ?? []].flat().sort(), ...(header === undefined ? [] : [`header ${header.toLowerCase()}`])];
}
