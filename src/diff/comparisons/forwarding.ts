import type { Comparison } from '../difference.ts';
import { findingAtKey, matchedRoutes, requestWitness } from './matched-routes.ts';

export const upstreamChanged: Comparison = {
  id: 'upstream-changed',
  severity: 'warning',
  description: 'Requests go to another upstream.',
  *find(sides) {
    for (const pair of matchedRoutes(sides)) {
      const [old, next] = [pair.from.entry.upstream, pair.to.entry.upstream];
      if (old !== next) yield findingAtKey(pair, 'upstream', `goes to the upstream "${next}", before to "${old}"`);
    }
  },
};

export const upstreamPathChanged: Comparison = {
  id: 'upstream-path-changed',
  severity: 'warning',
  description: 'The upstream is asked for another path.',
  *find(sides) {
    for (const pair of matchedRoutes(sides)) {
      if (pair.request === undefined) continue;
      const { url } = pair.request;
      const [old, next] = [pair.from, pair.to].map(({ route }) => route.upstreamPath?.(url) ?? url);
      if (old === next) continue;
      const isSecret = [pair.from, pair.to].some(
        ({ entry, redactedEntry }) => entry.upstreamPath?.with !== redactedEntry.upstreamPath?.with,
      );
      const message = isSecret
        ? 'asks its upstream for another path'
        : `asks its upstream for ${next}, before for ${old}`;
      yield findingAtKey(pair, 'upstreamPath', message, requestWitness(pair));
    }
  },
};
