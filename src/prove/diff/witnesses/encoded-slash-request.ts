import type { Route } from '../../../engine/plan/route-definition.ts';
import type { DiffContext, DiffRequest, DiffWitness, MatchedRoutePair } from '../difference.ts';
import { hasValidParameters, validRequest, withCaller } from './forwarded-request.ts';

/** Returns a request with an encoded slash that one route receives and the other one refuses. */
export function encodedSlashWitness(sides: DiffContext, pair: MatchedRoutePair): DiffWitness | undefined {
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
