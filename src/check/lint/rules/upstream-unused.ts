import { tokenMethods } from '../lint-context.ts';
import { findingAtKey, type Rule } from '../rule.ts';

export const upstreamUnused: Rule = {
  id: 'upstream-unused',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'An upstream without routes is obsolete, or its routes are missing; the gateway still checks its health.',
  *find({ manifest, routes }) {
    const used = new Set(routes.map(({ entry }) => entry.upstream));
    for (const { entry } of tokenMethods(manifest))
      if ('endpoint' in entry && typeof entry.endpoint === 'object') used.add(entry.endpoint.upstream);
    for (const id of Object.keys(manifest.upstreams))
      if (!used.has(id))
        yield findingAtKey(['upstreams', id], `no route uses the upstream "${id}"; add one, or remove it`);
  },
};
