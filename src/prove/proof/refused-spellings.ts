import { getOrCreate } from '../../engine/get-or-create.ts';
import { runToEnd } from '../../engine/plan/sliced-work.ts';
import { foldLiteral, isAlreadyFolded } from '../../engine/routing/path-folding.ts';
import { intersect, type Pattern } from '../../engine/routing/pattern.ts';
import { RouteIndex } from '../../engine/routing/route-index.ts';
import { isStricter, routingKey } from '../../engine/routing/router.ts';
import type { DiffRoute, DiffSide } from '../diff/side.ts';
import { type OpenedRegion, type PatternForm, patternIn, type Region, type RegionSearch } from './regions.ts';

/** The pairs of regions of one kind that are tried. */
const MAX_TRIES = 20_000;

/**
 * Yields spellings of paths that only one side serves. A router refuses a path if one of its readings belongs to a stricter route. Regions
 * with routes of the same strictness are searched together. One spelling of each kind is enough. As in invariants, servers that normalize
 * Unicode do not count: to them, each path with a parameter could be any other path.
 *
 * @param served the regions as sent, of the side that may serve more
 */
export function* findRefusedSpellings(
  served: readonly Region[],
  search: RegionSearch,
  [side, other]: readonly [served: DiffSide, refusing: DiffSide],
): Generator<OpenedRegion> {
  if (!search.hasChanges) return;
  const open = served.filter((region) => region.other !== undefined && freePosition(region) !== -1);
  for (const form of search.forms)
    for (const [regions, readings] of kindsOf(open, [...search.find(other, side, form)]))
      yield* findInKind(regions, readings, form, search.unknown);
  yield* likeLiterals(open, side, other);
}

/** Yields the regions and readings for which the refusal is lost: a stricter route refused a spelling, and none does now. */
function* kindsOf(regions: readonly Region[], readings: readonly Region[]): Generator<[Region[], Region[]]> {
  const keyOf = createKey();
  const readKinds = [...Map.groupBy(readings, keyOf).values()];
  for (const kind of Map.groupBy(regions, keyOf).values())
    for (const read of readKinds) {
      const [{ route }, { other: now }] = [kind[0] as Region, read[0] as Region];
      const isKept = now !== undefined && isStricter(now.route, route.route);
      if (!isKept && isRefused(kind[0] as Region, read[0] as Region)) yield [kind, read];
    }
  // A route that takes the requests of several ones no longer refuses spellings of them.
  const byRoute = Map.groupBy(readings, ({ other }) => other);
  for (const region of regions) {
    const read = byRoute.get(region.route)?.filter((reading) => isRefused(region, reading)) ?? [];
    if (read.length > 0) yield [[region], read];
  }
}

/** True if the other side refuses a path of a region that servers read like that. */
function isRefused(region: Region, reading: Region): boolean {
  const isStrict = region.other !== undefined && isStricter(reading.route.route, region.other.route);
  return isStrict && region.method === reading.method;
}

/** Returns a function that names the method of a region, and the strictness of its routes. */
function createKey(): (region: Region) => string {
  const known = new Map<DiffRoute | undefined, string>();
  const keyOfRoute = (one: DiffRoute | undefined) =>
    getOrCreate(known, one, () =>
      one === undefined ? '' : routingKey({ ...one.route, id: '', path: '', methods: [], keepsEncodedSlash: false }),
    );
  return ({ method, route, other }) => [method, keyOfRoute(route), keyOfRoute(other)].join(' ');
}

function* findInKind(
  regions: readonly Region[],
  readings: readonly Region[],
  form: PatternForm,
  unknown: string,
): Generator<OpenedRegion> {
  let tries = 0;
  let possible: OpenedRegion | undefined;
  const patterns = readings.map((reading) => ({
    route: reading.route.route,
    pattern: patternIn(form, commonPattern(reading)),
  }));
  const index = runToEnd(RouteIndex.create(patterns)).patterns;
  for (const region of regions) {
    const start = patternIn(form, commonPattern(region).slice(0, freePosition(region)));
    for (const member of index.overlapping([...start, { kind: 'rest' }])) {
      const reading = readings[member] as Region;
      const { route: reader } = reading;
      tries += 1;
      if (tries > MAX_TRIES) return yield { region, reader, isFound: false };
      if (reader === region.other || !canBeRead(region, reading, form)) continue;
      possible ??= { region, reader, isFound: false };
      const path = spellingsOf(region, reading, unknown).find((one) => isServedOnce(region, one));
      if (path !== undefined) return yield { region: { ...region, path }, reader, isFound: true };
    }
  }
  if (possible !== undefined) yield possible;
}

/** True if the side of a region serves a path, and the other side refuses it. */
function isServedOnce({ method, route: { side, route }, other }: Region, path: string): boolean {
  const isServed = side.plan.router.match(method, path) === route && (route.keepsEncodedSlash || !path.includes('%2F'));
  return isServed && other?.side.plan.router.match(method, path) === undefined;
}

/** Returns the pattern of the paths of a region. A rest that matches nothing in its path matches nothing in the others. */
function commonPattern(region: Region): Pattern {
  const { route, other } = region;
  const pattern = (other && intersect(route.pattern, other.pattern)) ?? route.pattern;
  const isEmptyRest = pattern.at(-1)?.kind === 'rest' && textsOf(region).length < pattern.length;
  return isEmptyRest ? pattern.slice(0, -1) : pattern;
}

/** Returns the first position of the paths of a region at which any text may stand; -1 if there is none. */
function freePosition(region: Region): number {
  return commonPattern(region).findIndex(({ kind }) => kind !== 'literal');
}

function textsOf({ path }: Region): readonly string[] {
  return path.split('/').filter((text) => text !== '');
}

const textOf = (segment: Pattern[number] | undefined, other: string) =>
  segment?.kind === 'literal' ? segment.text : other;

/** True if servers may read a path of a region like that. */
function canBeRead(region: Region, reading: Region, form: PatternForm): boolean {
  const pattern = commonPattern(region);
  const free = freePosition(region);
  const texts = textsOf(reading);
  const hasRoom = pattern.at(-1)?.kind === 'rest' || region.route.route.keepsEncodedSlash;
  // Without room, no segment is dropped or divided, so that the literals stay where they are.
  const fixed = patternIn(form, hasRoom || texts.length !== pattern.length ? pattern.slice(0, free) : pattern);
  const path = `/${texts.map((text, index) => textOf(fixed[index], text)).join('/')}`;
  const isRead = (one: DiffRoute | undefined, { side }: DiffRoute) =>
    side.plan.router.matchReading(region.method, { path, form })?.id === one?.route.id;
  const hasLength = texts.length >= free && (hasRoom || texts.length <= pattern.length);
  return hasLength && isRead(reading.route, reading.route) && isRead(reading.other, region.route);
}

/** Returns paths of a region that some servers read as that of the reading. */
function spellingsOf(region: Region, reading: Region, unknown: string): string[] {
  const pattern = commonPattern(region);
  const free = freePosition(region);
  const texts = textsOf(reading).slice(free);
  const start = pattern.slice(0, free).map((segment) => textOf(segment, unknown));
  const after = pattern.slice(free + 1).flatMap((one) => (one.kind === 'rest' ? [] : [textOf(one, unknown)]));
  const pathOf = (...segments: readonly string[]) => `/${[...start, ...segments].join('/')}`;
  return [capitalized, (text: string) => `${text};x`, (text: string) => text].flatMap((respell) => {
    const respelled = texts.map((text) => (text === unknown ? text : respell(text)));
    const aligned = respelled.map((text, index) => textOf(pattern[free + index], text));
    const [first = '...'] = respelled;
    return [
      pathOf(...aligned),
      pathOf(first, ...after),
      pathOf(`${first}%3Fx`, ...after),
      pathOf(respelled.join('%2F'), ...after),
    ];
  });
}

function capitalized(text: string): string {
  return text.replace(/[a-z]/, (letter) => letter.toUpperCase());
}

/** Yields a region if a new literal differs from others only in its spelling: the router no longer reads such a text in both ways. */
function* likeLiterals(regions: readonly Region[], side: DiffSide, other: DiffSide): Generator<OpenedRegion> {
  const literalsOf = ({ routes }: DiffSide) =>
    routes.flatMap(({ pattern }) =>
      pattern.flatMap((one, at) => (one.kind === 'literal' ? [{ at, segment: one }] : [])),
    );
  const before = literalsOf(other);
  const isLike = ({ at, segment }: (typeof before)[number]) =>
    !isAlreadyFolded(segment) &&
    !before.some((one) => one.at === at && one.segment.text === segment.text) &&
    before.some((one) => one.at <= at && foldLiteral(one.segment).text === foldLiteral(segment).text);
  const isStrict = ({ other: twin }: Region) =>
    other.routes.some(
      ({ route, pattern }) =>
        twin !== undefined && isStricter(route, twin.route) && pattern.some(({ kind }) => kind !== 'literal'),
    );
  const region = literalsOf(side).some(isLike) ? regions.find(isStrict) : undefined;
  if (region?.other !== undefined) yield { region, reader: region.other, isFound: false };
}
