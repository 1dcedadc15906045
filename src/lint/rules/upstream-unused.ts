import { findingAtKey, type Rule } from '../rule.ts';
import { tokenMethods } from '../token-methods.ts';

export const upstreamUnused: Rule = {
  id: 'upstream-unused',
  category: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'An upstream that no route names is left over, or its routes were forgotten; its health is asked for all the same.',
  *find({ manifest, routes }) {
    const used = new Set(routes.map(({ entry }) => entry.upstream));
    for (const { way } of tokenMethods(manifest))
      if ('endpoint' in way && typeof way.endpoint === 'object') used.add(way.endpoint.upstream);
    for (const id of Object.keys(manifest.upstreams))
      if (!used.has(id)) yield findingAtKey(['upstreams', id], `no route goes to "${id}"; give it one, or remove it`);
  },
};
