import type { RouteEntry } from '../manifest/manifest.generated.ts';
import { sizeBytes } from '../manifest/units.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, type Finding, type Path } from '../problem/finding.ts';
import type { RateLimits } from './compile-rate-limits.ts';
import type { RateLimit, RouteRateLimits } from './rate-limit.ts';

/** The body is parsed again for its key, on the serving thread. */
const MAX_BODY_BYTES = 32_768;

/** Finds the limits of a route. Reports unknown ones, and those whose key the route's requests never have. */
export function compileRouteRateLimits(
  entry: RouteEntry,
  path: Path,
  limits: RateLimits | undefined,
  findings: Finding[],
): RouteRateLimits | undefined {
  // The mistakes of an invalid `rateLimits` are already reported.
  if (entry.rateLimits === undefined || limits === undefined) return undefined;
  const found: RateLimit[] = [];
  for (const [index, id] of entry.rateLimits.entries()) {
    const limitPath = [...path, 'rateLimits', index];
    const limit = limits.get(id);
    if (limit !== undefined) {
      found.push(limit);
      const message = impossibleKey(limit, entry);
      const related = { path: ['rateLimits', id, 'key'], message: 'the key' };
      if (message !== undefined) findings.push({ ...errorAt(limitPath, 'rate-limit-key', message), related });
    } else if (!limits.has(id)) {
      const message = `unknown rate limit "${id}"${suggestion(id, [...limits.keys()]) || '; add it to "rateLimits"'}`;
      findings.push(errorAt(limitPath, 'rate-limit-unknown', message));
    }
  }
  const atStage = (stage: RateLimit['stage']) => Object.freeze(found.filter((limit) => limit.stage === stage));
  return Object.freeze({ match: atStage('match'), authorize: atStage('authorize'), validate: atStage('validate') });
}

/** Returns why no request to the route has the key of a limit. */
function impossibleKey({ id, kinds }: RateLimit, { access, body }: RouteEntry): string | undefined {
  const callerKind = kinds.find((kind) => kind === 'subject' || kind === 'claim');
  if (access === 'public' && callerKind !== undefined)
    return `the key of "${id}" has a ${callerKind}, and a public route verifies no token; use a limit by client, or write access: protected`;
  if (!kinds.includes('body')) return undefined;
  if (body?.schema === undefined)
    return `the key of "${id}" is in the body, and only a route with a body schema reads it; add body: with a schema`;
  if (sizeBytes(body.maxBytes) > MAX_BODY_BYTES)
    return `the key of "${id}" is in the body, which must then be short; set body.maxBytes to 32KB or less`;
  return undefined;
}
