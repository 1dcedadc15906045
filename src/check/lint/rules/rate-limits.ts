import { isLoopback } from '../../../engine/dns/loopback.ts';
import { parsePointer, valueAt } from '../../../engine/json-pointer.ts';
import type { Manifest, Redis } from '../../../engine/manifest/manifest.generated.ts';
import { didYouMean, suggestion } from '../../../engine/problem/did-you-mean.ts';
import type { Path } from '../../../engine/problem/finding.ts';
import type { RateLimitKeyKind } from '../../../engine/rate-limits/rate-limit.ts';
import { keywordsWith } from '../../../engine/schema/keywords.ts';
import { isMap } from '../../../engine/schema/schema-walk.ts';
import { hasWriteMethod, type LintRoute, type Schema, usedLimits } from '../lint-context.ts';
import { findingAt, findingAtKey, rulesOf } from '../rule.ts';

export const RATE_LIMIT_RULES = rulesOf('limits', {
  'login-unlimited': {
    level: ['warning', 'recommended'],
    rationale:
      'Without a rate limit, anyone can try passwords and codes as fast as the upstream responds; a code of six digits does not last a day.',
    atKey: ['access'],
    route: (lintRoute) => {
      const { entry, route } = lintRoute;
      if (entry.access === 'protected' || !hasWriteMethod(entry, true) || !isGuessable(lintRoute)) return false;
      const limits = Object.values(route.rateLimits ?? {}).flat();
      // A date in `reportUntil` is a plan to enforce the limit, which `rate-limit-report-over` verifies.
      if (limits.some(({ mode, reportUntil }) => mode === 'enforce' || reportUntil !== undefined)) return false;
      return limits.length === 0
        ? 'anyone can guess passwords or codes here without a limit; add rateLimits: with the name of one, such as { key: client, allow: 30 per 15m, count: failures }'
        : 'the rate limits of this route only report guesses; write mode: enforce, or add reportUntil: with a date';
    },
  },
  'rate-limit-avoidable': {
    level: ['warning', 'recommended'],
    rationale:
      'Clients choose headers and bodies: a client that sends another value with each request, or none, is never over a limit that counts by it.',
    atKey: ['rateLimits'],
    route: ({ entry, route }) => {
      const limits = Object.values(route.rateLimits ?? {}).flat();
      const isChosen = limits.every(({ kinds }) => kinds.some((kind) => CHOSEN_BY_CLIENT.has(kind)));
      if (limits.length === 0 || !isChosen) return false;
      const key = entry.access === 'protected' ? 'subject' : 'client';
      return entry.validation === 'report' && limits.every(({ missing }) => missing === 'skip')
        ? `a body that violates the schema is forwarded without its key, so nothing limits it; write missing: refuse, and add a limit with key: ${key}`
        : `a client that sends other values with each request is never limited here; add a limit with key: ${key}`;
    },
  },
  'rate-limit-client': {
    level: ['warning', 'recommended'],
    rationale:
      'Behind a proxy, all requests come from its address: without trusted proxies all clients share one counter, and a single one of them blocks the others. The clients of a unix socket have no address.',
    *find(context) {
      const { listen, server } = context.plan;
      const isSocket = listen.socket !== undefined;
      if (!isSocket && (isLoopback(listen.host) || server.trustedProxies !== undefined)) return;
      const limit = usedLimits(context).find(({ kinds }) => kinds.includes('client'));
      const message = isSocket
        ? 'this key is the same for all clients of a unix socket; write subject, or the header that identifies a client'
        : 'behind a proxy, this key is the address of the proxy for all clients; list the proxies in server.trustedProxies';
      const related = { path: ['listen'], message: isSocket ? 'the unix socket' : 'other machines reach this address' };
      if (limit !== undefined) yield findingAt(['rateLimits', limit.id, 'key'], message, { related });
    },
  },
  'rate-limit-high': {
    level: ['warning', 'recommended'],
    rationale:
      'If a limit allows more requests at once than the connections and the queue of the upstream hold, a single client fills both before the limit stops it.',
    *find({ manifest, routes }) {
      const reported = new Set<string>();
      for (const { route } of routes) {
        const { upstream, rateLimits } = route;
        if (upstream === undefined) continue;
        for (const { id, burst } of Object.values(rateLimits ?? {}).flat()) {
          const room = upstream.endpoints.length * upstream.connectionLimit + upstream.queueLimit;
          if (burst <= room || reported.has(id)) continue;
          reported.add(id);
          const key = manifest.rateLimits[id]?.burst === undefined ? 'allow' : 'burst';
          yield findingAt(
            ['rateLimits', id, key],
            `${burst} requests may come at once, and the upstream "${upstream.id}" takes ${room}; set burst to less`,
            { related: { path: ['upstreams', upstream.id], message: 'its connections and its queue' } },
          );
        }
      }
    },
  },
  'rate-limit-report-over': {
    level: ['warning', 'minimal'],
    rationale: 'A limit that only reports protects nothing, and its author planned to enforce it after this date.',
    *find({ plan, today }) {
      for (const { id, reportUntil } of plan.rateLimits)
        if (reportUntil !== undefined && reportUntil < today)
          yield findingAt(
            ['rateLimits', id, 'reportUntil'],
            'this date has passed, and the limit still only reports; write mode: enforce, or set a later date',
          );
    },
  },
  'rate-limit-unused': {
    level: ['warning', 'recommended'],
    rationale: 'A rate limit without routes limits nothing: a route that needs it lacks it, or the limit is obsolete.',
    *find(context) {
      const used = new Set(usedLimits(context));
      for (const limit of context.plan.rateLimits)
        if (!used.has(limit))
          yield findingAtKey(
            ['rateLimits', limit.id],
            `no route uses the rate limit "${limit.id}"; add it to the rateLimits of a route, or remove it`,
          );
    },
  },
  'store-plain': {
    level: ['warning', 'strict'],
    rationale: 'Anyone on the network path can read the password of Redis, and delete the counters.',
    *find({ manifest }) {
      for (const [id, { redis }] of Object.entries(manifest.stores))
        for (const [text, path] of urlsOf(redis, ['stores', id, 'redis'])) {
          const { protocol, hostname } = new URL(text);
          if (protocol === 'redis:' && !isLoopback(hostname))
            yield findingAt(path, 'the gateway connects to this server without TLS; write a rediss:// URL');
        }
    },
  },
  'store-unused': {
    level: ['warning', 'recommended'],
    rationale: 'Each gateway counts alone if no rate limit names the store, so several gateways together allow more.',
    *find({ manifest }) {
      const used = new Set(Object.values(manifest.rateLimits).map(({ store }) => store));
      for (const id of Object.keys(manifest.stores))
        if (!used.has(id))
          yield findingAtKey(
            ['stores', id],
            `no rate limit uses the store "${id}"; add store: ${id} to one, or remove it`,
          );
    },
  },
  'rate-limit-body-unknown': {
    level: ['warning', 'minimal'],
    rationale:
      'A key that the body schema does not describe is usually misspelled: the limit refuses every request, or counts none of them.',
    *find({ manifest, routes }) {
      const reported = new Set<string>();
      for (const { entry, path } of routes)
        for (const id of entry.rateLimits ?? [])
          for (const { pointer, at } of bodyKeysOf(manifest, id)) {
            const unknown = unknownMember(manifest, [...path, 'body', 'schema'], parsePointer(pointer));
            if (unknown === undefined || reported.has(at.join())) continue;
            reported.add(at.join());
            const message = `the body schema of "${entry.id}" does not describe "${unknown.name}"${remedyOf(unknown)}`;
            yield findingAt(at, message, { related: { path: unknown.at, message: 'the described members' } });
          }
    },
  },
});

const GUESSED_WORDS =
  /(?:^|[-_.])(?:log-?in|sign-?in|mfa|2fa|t?otp|passwords?|passcode|reset|forgot|verif(?:y|ication)|recover(?:y)?|unlock)(?:$|[-_.])/i;

/** True if a route checks a secret that a client can guess, as far as its id and its path show. */
function isGuessable({ entry, pattern }: LintRoute): boolean {
  const texts = pattern.flatMap((segment) => (segment.kind === 'literal' ? [segment.text] : []));
  return entry.login !== undefined || [entry.id, ...texts].some((text) => GUESSED_WORDS.test(text));
}

const CHOSEN_BY_CLIENT = new Set<RateLimitKeyKind>(['header', 'body']);

function urlsOf(redis: string | Redis, path: Path): readonly (readonly [url: string, path: Path])[] {
  if (typeof redis === 'string') return [[redis, path]];
  const { url, sentinels, cluster } = redis;
  if (url !== undefined) return [[url, [...path, 'url']]];
  const key = sentinels === undefined ? 'cluster' : 'sentinels';
  return (sentinels ?? cluster ?? []).map((each, index) => [each, [...path, key, index]]);
}

/** Yields the pointers into the body in the key of a limit, with their paths. */
function* bodyKeysOf({ rateLimits }: Manifest, id: string): Generator<{ pointer: string; at: Path }> {
  const key = rateLimits[id]?.key ?? [];
  for (const [index, part] of [key].flat().entries())
    if (typeof part !== 'string' && part.body !== undefined)
      yield { pointer: part.body, at: ['rateLimits', id, 'key', ...(Array.isArray(key) ? [index] : []), 'body'] };
}

/** A member that a schema does not describe, and those that it does. */
interface UnknownMember {
  readonly name: string;
  readonly names: readonly string[];
  readonly at: Path;
}

function remedyOf({ name, names }: UnknownMember): string {
  return didYouMean(name, names) === undefined ? '; describe it, or correct the pointer' : suggestion(name, names);
}

/** Keywords that may describe members too. */
const OTHER_KEYWORDS = ['$ref', 'patternProperties', ...keywordsWith({ appliesTo: 'value' })];

/** Follows a pointer through `properties`. Returns `undefined` if another keyword may describe the member. */
function unknownMember(manifest: Manifest, start: Path, steps: readonly string[]): UnknownMember | undefined {
  let path = start;
  for (const name of steps) {
    path = referredPath(manifest, path);
    const schema = schemaAt(manifest, path);
    const properties = schema?.['properties'];
    if (schema === undefined || !isMap(properties)) return undefined;
    if (OTHER_KEYWORDS.some((keyword) => Object.hasOwn(schema, keyword))) return undefined;
    const names = Object.keys(properties);
    path = [...path, 'properties'];
    if (!names.includes(name)) return { name, names, at: path };
    path = [...path, name];
  }
  return undefined;
}

/** Returns the path of the schema that a schema with nothing but a reference refers to, or its own path. */
function referredPath(manifest: Manifest, path: Path): Path {
  const { $ref: reference, ...others } = schemaAt(manifest, path) ?? {};
  const isOnly = typeof reference === 'string' && Object.keys(others).length === 0;
  return isOnly && reference.startsWith('#/') ? parsePointer(reference) : path;
}

function schemaAt(manifest: Manifest, path: Path): Schema | undefined {
  const schema = valueAt(manifest, path);
  return isMap(schema) ? schema : undefined;
}
