import { findingAtKey, type Rule } from '../rule.ts';

export const storeUnused: Rule = {
  id: 'store-unused',
  category: 'limits',
  severity: 'warning',
  preset: 'recommended',
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
};
