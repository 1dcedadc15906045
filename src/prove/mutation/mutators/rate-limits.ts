import { withoutValue, withValue } from '../edits.ts';
import { overLimit, type TestedLimit, testedLimits, withoutKey } from '../limited-requests.ts';
import type { Mutant, MutationContext, Mutators } from '../mutant.ts';

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
    *find(context) {
      for (const tested of testedLimits(context)) {
        const { id, burst, intervalMs, requests, periodMs } = tested.limit;
        const path = ['rateLimits', id];
        const larger = withValue(context.manifest, [...path, 'burst'], burst + 1);
        yield {
          ...mutantOf(context, tested, larger),
          path: [...path, 'allow'],
          message: `"${id}" allows ${burst + 1} requests at once`,
        };
        const sameBurst = withValue(context.manifest, [...path, 'burst'], burst);
        const faster = withValue(sameBurst, [...path, 'allow'], `${requests * 2} per ${periodMs}ms`);
        yield {
          ...mutantOf(context, tested, faster, Math.ceil(intervalMs / 2)),
          path: [...path, 'allow'],
          message: `"${id}" allows ${requests * 2} requests in its time`,
        };
      }
    },
  },
  'rate-limit-report': {
    summary: 'a rate limit only reports the requests over it',
    *find(context) {
      for (const tested of testedLimits(context)) {
        const path = ['rateLimits', tested.limit.id];
        const changed = withValue(context.manifest, [...path, 'mode'], 'report');
        yield { ...mutantOf(context, tested, changed), path, message: `"${tested.limit.id}" refuses nothing` };
      }
    },
  },
  'rate-limit-key': {
    summary: 'a rate limit counts by a header that requests do not have, or skips requests that lack its key',
    *find(context) {
      for (const tested of testedLimits(context)) {
        const { limit, entry } = tested;
        const path = ['rateLimits', limit.id];
        const other = { ...entry, key: { header: 'X-Other-Key' }, missing: 'skip' };
        yield {
          ...mutantOf(context, tested, withValue(context.manifest, path, other)),
          path: [...path, 'key'],
          message: `"${limit.id}" counts by the header X-Other-Key`,
        };
        if (limit.missing !== 'refuse') continue;
        yield {
          path: [...path, 'missing'],
          message: `"${limit.id}" skips requests without its key`,
          manifest: withValue(context.manifest, [...path, 'missing'], 'skip'),
          routes: tested.routes,
          probes: (base) => withoutKey(base, entry),
        };
      }
    },
  },
  'rate-limit-count': {
    summary: 'a rate limit counts only failures, or one status of failures less',
    *find(context) {
      for (const tested of testedLimits(context)) {
        const { id, failures } = tested.limit;
        const path = ['rateLimits', id];
        if (failures === undefined) {
          const changed = withValue(context.manifest, [...path, 'count'], 'failures');
          yield { ...mutantOf(context, tested, changed), path, message: `"${id}" counts only failures` };
          continue;
        }
        for (const status of failures.size > 1 ? failures : []) {
          const others = [...failures].filter((other) => other !== status);
          const changed = withValue(context.manifest, [...path, 'failures'], others);
          const one = { ...tested, limit: { ...tested.limit, failures: new Set([status]) } };
          yield {
            ...mutantOf(context, one, changed),
            path,
            message: `"${id}" does not count responses with ${status}`,
          };
        }
      }
    },
  },
};

type LimitMutant = Omit<Mutant, 'path' | 'message'>;

/** Returns a change that a request over the limit shows. @param waitMs the time before the last request */
function mutantOf(
  context: MutationContext,
  tested: TestedLimit,
  manifest: Mutant['manifest'],
  waitMs?: number,
): LimitMutant {
  const { routes, invisible } = tested;
  return {
    manifest,
    routes,
    probes: (base) => overLimit(base, tested, context, waitMs),
    ...(invisible !== undefined && { invisible }),
  };
}
