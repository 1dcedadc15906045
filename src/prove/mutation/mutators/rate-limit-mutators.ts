import type { MutationContext } from '../context.ts';
import { withoutValue, withValue } from '../edits.ts';
import { overLimit, type TestedLimit, testedLimits, withoutKey } from '../limited-requests.ts';
import type { Mutant, Mutator, Mutators, RouteChange } from '../mutant.ts';

export const rateLimitMutators: Mutators = {
  'rate-limit-removed': {
    summary: 'a rate limit no longer applies to a route',
    *find(context) {
      const limits = new Map(testedLimits(context).map((tested) => [tested.limit.id, tested]));
      for (const route of context.routes)
        for (const [index, id] of (route.entry.rateLimits ?? []).entries()) {
          const tested = limits.get(id);
          if (tested === undefined) continue;
          const listPath = [...route.path, 'rateLimits'];
          const path = [...listPath, index];
          const isOnly = route.entry.rateLimits?.length === 1;
          yield {
            ...mutantOf(
              context,
              tested,
              isOnly ? withoutValue(context.manifest, listPath) : withoutValue(context.manifest, path),
            ),
            path,
            message: `"${id}" does not limit "${route.entry.id}"`,
            routes: [route],
          };
        }
    },
  },
  'rate-limit-loosened': {
    summary: 'a rate limit allows one more request at once, or twice as many requests in a time',
    find: inEachLimit(function* ({ limit: { id, burst, intervalMs, requests, periodMs } }, { manifest }) {
      const path = ['rateLimits', id, 'allow'];
      yield { at: ['burst'], value: burst + 1, path, effect: `allows ${burst + 1} requests at once` };
      const sameBurst = withValue(manifest, ['rateLimits', id, 'burst'], burst);
      yield {
        at: ['allow'],
        manifest: withValue(sameBurst, path, `${requests * 2} per ${periodMs}ms`),
        effect: `allows ${requests * 2} requests in its time`,
        waitMs: Math.ceil(intervalMs / 2),
      };
    }),
  },
  'rate-limit-report': {
    summary: 'a rate limit only reports the requests over it',
    find: inEachLimit(({ limit: { id } }) => [
      { at: ['mode'], value: 'report', path: ['rateLimits', id], effect: 'refuses nothing' },
    ]),
  },
  'rate-limit-key': {
    summary: 'a rate limit counts by a header that requests do not have, or skips requests that lack its key',
    find: inEachLimit(function* ({ limit, entry }) {
      const path = ['rateLimits', limit.id, 'key'];
      const other = { ...entry, key: { header: 'X-Other-Key' }, missing: 'skip' };
      yield { at: [], value: other, path, effect: 'counts by the header X-Other-Key' };
      if (limit.missing !== 'refuse') return;
      yield {
        at: ['missing'],
        value: 'skip',
        effect: 'skips requests without its key',
        probes: (base) => withoutKey(base, entry),
      };
    }),
  },
  'rate-limit-count': {
    summary: 'a rate limit counts only failures, or one status of failures less',
    find: inEachLimit(function* ({ limit: { id, failures } }) {
      const path = ['rateLimits', id];
      if (failures === undefined) yield { at: ['count'], value: 'failures', path, effect: 'counts only failures' };
      if (failures === undefined || failures.size === 1) return;
      for (const status of failures) {
        const others = [...failures].filter((other) => other !== status);
        const effect = `does not count responses with ${status}`;
        yield { at: ['failures'], value: others, path, effect, counted: new Set([status]) };
      }
    }),
  },
};

/** A change of one value in a rate limit. A request over the limit shows it. */
interface LimitChange extends RouteChange {
  /** The time before the last request. */
  readonly waitMs?: number;
  /** The statuses that the requests must have, if not all that the limit counts. */
  readonly counted?: ReadonlySet<number>;
}

function inEachLimit(
  changesOf: (tested: TestedLimit, context: MutationContext) => Iterable<LimitChange>,
): Mutator['find'] {
  return function* (context) {
    for (const tested of testedLimits(context))
      for (const { at, value, effect, waitMs, counted, ...mutant } of changesOf(tested, context)) {
        const path = ['rateLimits', tested.limit.id, ...at];
        const manifest = withValue(context.manifest, path, value);
        const limit = counted === undefined ? tested.limit : { ...tested.limit, failures: counted };
        // Other requests than those over the limit are always possible.
        const invisible = mutant.probes === undefined ? tested.invisible : undefined;
        const over = mutantOf(context, { ...tested, limit, invisible }, manifest, waitMs);
        yield { path, message: `"${tested.limit.id}" ${effect}`, ...over, ...mutant };
      }
  };
}

/** Returns a change that a request over the limit shows. @param waitMs the time before the last request */
function mutantOf(
  context: MutationContext,
  tested: TestedLimit,
  manifest: Mutant['manifest'],
  waitMs?: number,
): Omit<Mutant, 'path' | 'message'> {
  const { routes, invisible } = tested;
  const probes: Mutant['probes'] = (base) => overLimit(base, tested, context, waitMs);
  return { manifest, routes, probes, ...(invisible !== undefined && { invisible }) };
}
