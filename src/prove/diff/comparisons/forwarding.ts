import type { Comparison } from '../difference.ts';
import { endpointsKey, hasSameEffect } from '../upstream-pairs.ts';
import { forwardedWitness } from '../witnesses/forwarded-request.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

export const upstreamChanged: Comparison = {
  id: 'upstream-changed',
  severity: 'warning',
  description: 'Requests go to another upstream.',
  *find(sides) {
    for (const pair of matchedRoutes(sides)) {
      const [old, next] = [pair.from.route.upstream, pair.to.route.upstream];
      // `upstream-renamed` reports an upstream that has only another name.
      if (old.id === next.id || hasSameEffect(old, next)) continue;
      const hasMoved = endpointsKey(old) !== endpointsKey(next);
      const witness = hasMoved ? forwardedWitness(sides, pair) : undefined;
      yield findingAtKey(pair, 'upstream', `now goes to the upstream "${next.id}" (was "${old.id}")`, witness);
    }
  },
};

export const upstreamPathChanged: Comparison = {
  id: 'upstream-path-changed',
  severity: 'warning',
  description: 'The upstream receives requests for another path.',
  *find(sides) {
    for (const pair of matchedRoutes(sides)) {
      if (pair.request === undefined) continue;
      const { url } = pair.request;
      const [old, next] = [pair.from, pair.to].map(({ route }) => route.upstreamPath?.(url) ?? url);
      if (old === next) continue;
      const isSecret = [pair.from, pair.to].some(
        ({ entry, redactedEntry }) => entry.upstreamPath?.with !== redactedEntry.upstreamPath?.with,
      );
      const message = isSecret ? 'forwards to another path' : `now forwards to the path ${next} (was ${old})`;
      yield findingAtKey(pair, 'upstreamPath', message, forwardedWitness(sides, pair));
    }
  },
};
