import type { Manifest, RateLimit as RateLimitEntry, RouteEntry } from '../manifest/manifest.generated.ts';
import { parseRate, sizeBytes } from '../manifest/units.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import { errorAt, errorAtKey, type Finding, type Path, quoteFreeErrorAt } from '../problem/finding.ts';
import type { Stores } from './compile-stores.ts';
import { compileKeyPart, joinKeyParts, KEY_PART_KINDS, type KeyPart, STAGE_OF } from './key-parts.ts';
import type { RateLimit, RateLimitStage, RouteRateLimits } from './rate-limit.ts';

/** Rate limits by id; `undefined` for one with errors. */
export type RateLimits = ReadonlyMap<string, RateLimit | undefined>;

/** Wrong credentials, a missing permission, and input that the identity service refuses. */
const DEFAULT_FAILURES = [401, 403, 422];
const MAX_PERIOD_MS = 86_400_000;
const STAGES: readonly RateLimitStage[] = ['match', 'authorize', 'validate'];

/**
 * @param invalidParts the parts that violate the schema: `rateLimits`, or `rateLimits/login`
 * @returns `undefined` if `rateLimits` itself is invalid
 */
export function compileRateLimits(
  entries: Manifest['rateLimits'],
  invalidParts: ReadonlySet<string>,
  stores: Stores | undefined,
  findings: Finding[],
): RateLimits | undefined {
  if (invalidParts.has('rateLimits')) return undefined;
  const compile = (id: string, entry: RateLimitEntry) =>
    invalidParts.has(`rateLimits/${id}`) ? undefined : compileRateLimit(id, entry, stores, findings);
  return new Map(Object.entries(entries).map(([id, entry]) => [id, compile(id, entry)]));
}

function compileRateLimit(id: string, entry: RateLimitEntry, stores: Stores | undefined, findings: Finding[]) {
  const path = ['rateLimits', id];
  const parts = compileKey(entry.key, [...path, 'key'], findings);
  const { requests, periodMs } = parseRate(entry.allow);
  const tooLong = 'the duration must be at most 24h; write for example 5 per 15m';
  if (periodMs > MAX_PERIOD_MS) findings.push(quoteFreeErrorAt([...path, 'allow'], 'rate-limit', tooLong));
  const reportIdle = (key: string, condition: string) => {
    const message = `"${key}" has no effect without ${condition}; add it, or remove "${key}"`;
    findings.push(errorAtKey([...path, key], 'rate-limit', message));
  };
  if (entry.failures !== undefined && entry.count !== 'failures') reportIdle('failures', 'count: failures');
  if (entry.reportUntil !== undefined && entry.mode !== 'report') reportIdle('reportUntil', 'mode: report');
  checkMissing(entry, parts, path, findings);
  const store = entry.store === undefined ? undefined : findStore(entry.store, [...path, 'store'], stores, findings);
  if (parts === undefined) return undefined;
  const { mode, missing, burst = requests } = entry;
  return Object.freeze({
    id,
    key: JSON.stringify([id, entry.key]),
    kinds: parts.map(({ kind }) => kind),
    stage: latestStage(parts),
    readValue: joinKeyParts(parts),
    missing,
    requests,
    periodMs,
    burst,
    intervalMs: periodMs / requests,
    failures: entry.count === 'failures' ? new Set(entry.failures ?? DEFAULT_FAILURES) : undefined,
    store,
    mode,
    reportUntil: entry.reportUntil,
  });
}

function compileKey(entry: RateLimitEntry['key'], path: Path, findings: Finding[]): KeyPart[] | undefined {
  const entries = Array.isArray(entry) ? entry : [entry];
  let isValid = true;
  for (const [index, part] of entries.entries()) {
    if (typeof part === 'string') continue;
    const partPath = Array.isArray(entry) ? [...path, index] : path;
    const kinds = KEY_PART_KINDS.filter((kind) => part[kind] !== undefined);
    if (kinds.length !== 1) {
      findings.push(errorAt(partPath, 'rate-limit-key', 'write exactly one of "body", "claim", "header" and "client"'));
      isValid = false;
    } else if (part.fold !== undefined && part.client !== undefined) {
      const message = 'an address has no letter case; remove "fold"';
      findings.push(errorAtKey([...partPath, 'fold'], 'rate-limit-key', message));
    }
  }
  return isValid ? entries.map(compileKeyPart) : undefined;
}

function checkMissing(
  { missing }: RateLimitEntry,
  parts: readonly KeyPart[] | undefined,
  path: Path,
  findings: Finding[],
): void {
  if (parts === undefined) return;
  const optional = parts.map(({ kind }) => OPTIONAL_NOUNS[kind]).find((noun) => noun !== undefined);
  if (optional !== undefined && missing === undefined) {
    const message = `a request can lack this ${optional}; add missing: refuse, or missing: skip`;
    findings.push(errorAt([...path, 'key'], 'rate-limit-missing', message));
  } else if (optional === undefined && missing !== undefined) {
    const message = 'every request has this key; remove "missing"';
    findings.push(errorAtKey([...path, 'missing'], 'rate-limit-missing', message));
  }
}

/** The values that a request can lack. */
const OPTIONAL_NOUNS: Readonly<Record<string, string>> = {
  body: 'member of the body',
  claim: 'claim',
  header: 'header',
};

function findStore(id: string, path: Path, stores: Stores | undefined, findings: Finding[]): RateLimit['store'] {
  // The mistakes of an invalid `stores` are already reported.
  if (stores === undefined || stores.has(id)) return stores?.get(id);
  const message = `unknown store "${id}"${suggestion(id, [...stores.keys()]) || '; add it to "stores"'}`;
  findings.push(errorAt(path, 'store-unknown', message));
  return undefined;
}

function latestStage(parts: readonly KeyPart[]): RateLimitStage {
  // All clients share one counter. Requests with an invalid token would use up the limit of all callers.
  if (parts.every(({ kind }) => kind === 'route')) return 'authorize';
  return STAGES.findLast((stage) => parts.some(({ kind }) => STAGE_OF[kind] === stage)) ?? 'match';
}

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
  if (!entry.rateLimits?.length || limits === undefined) return undefined;
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
