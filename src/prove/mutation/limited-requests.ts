import { nestValue, parsePointer } from '../../engine/json-pointer.ts';
import type { RateLimit as RateLimitEntry, RateLimitKeyPart } from '../../engine/manifest/manifest.generated.ts';
import { callerOfRole } from '../offline/role-claims.ts';
import type { Caller } from '../offline/stub-verifier.ts';
import type { MutationContext } from './context.ts';
import type { Probe } from './mutant.ts';
import { withClaims, withHeader, withJsonBody, withoutHeader, withRequest } from './probes.ts';

/** The largest number of times that a test case can send a request. */
export const MAX_TIMES = 1_000;
/** The routes of a limit that the search for a missing case tries. */
const MAX_ROUTES = 3;

export type TestedLimit = ReturnType<typeof testedLimits>[number];

/** Returns the limits that refuse requests, with some of their routes. Without one that only reports, all responses stay the same. */
export function testedLimits({ plan, manifest, routes }: MutationContext) {
  return plan.rateLimits.flatMap((limit) => {
    const entry = manifest.rateLimits[limit.id];
    const users = routes.filter((tested) => tested.entry.rateLimits?.includes(limit.id));
    if (entry === undefined || users.length === 0 || limit.mode === 'report') return [];
    // The reason why no test case can have a request over the limit.
    const invisible = limit.burst < MAX_TIMES ? undefined : `a test case sends at most ${MAX_TIMES} requests`;
    return [{ limit, entry, routes: users.slice(0, MAX_ROUTES), invisible }];
  });
}

/** Yields a request that is repeated until it is over a limit, after a time in which the limit recovers in part. */
export function overLimit(
  base: Probe,
  { limit, entry }: Pick<TestedLimit, 'limit' | 'entry'>,
  { manifest }: MutationContext,
  waitMs = 0,
): Probe[] {
  const [status] = limit.failures ?? [];
  const response = status === undefined ? base.response : { status, headers: {} };
  const repeated = { times: limit.burst + 1, ...(waitMs > 0 && { wait: formatDuration(waitMs) }) };
  return [withKey(base, entry, manifest), base].map((probe) =>
    withRequest({ request: probe.request, ...(response && { response }) }, repeated),
  );
}

function formatDuration(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}

/** Returns the request with every part of a key that a test case determines. */
export function withKey(base: Probe, { key }: RateLimitEntry, manifest: MutationContext['manifest']): Probe {
  return mapsIn(key).reduce((probe, { header, body, claim }) => {
    if (header !== undefined) return withHeader(probe, header, 'a');
    if (body !== undefined) return withJsonBody(probe, { ...objectOf(probe), ...(nestValue(body, 'a') as object) });
    if (claim === undefined || manifest.auth === undefined) return probe;
    const { role, issuer } = probe.request;
    const caller: Caller = role === undefined ? { claims: {}, issuer } : callerOfRole(manifest, role, issuer);
    return withClaims(probe, { ...caller.claims, ...(nestValue(claim, 'a') as object) }, caller.issuer);
  }, base);
}

/** Yields the request without a header or a member of the body that the key contains. */
export function* withoutKey(base: Probe, { key }: RateLimitEntry): Generator<Probe> {
  for (const { header, body } of mapsIn(key)) {
    if (header !== undefined)
      yield withRequest(base, { headers: withoutHeader(base.request.headers, header.toLowerCase()) });
    if (body === undefined) continue;
    const [name] = parsePointer(body);
    const { [name ?? '']: _member, ...others } = objectOf(base);
    yield withJsonBody(base, others);
  }
}

function mapsIn(key: RateLimitEntry['key']): RateLimitKeyPart[] {
  return [key].flat().filter((part) => typeof part !== 'string');
}

function objectOf({ request: { body } }: Probe): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && !Array.isArray(body) ? (body as Readonly<Record<string, unknown>>) : {};
}
