import { atKey, type Rule } from '../rule.ts';
import { waysOf } from '../tokens.ts';

export const upstreamUnused: Rule = {
  id: 'upstream-unused',
  family: 'upstreams',
  severity: 'warning',
  preset: 'recommended',
  why: 'An upstream that no route names is left over, or its routes were forgotten; its health is asked for all the same.',
  *find({ manifest, routes }) {
    const used = new Set(routes.map(({ entry }) => entry.upstream));
    for (const { way } of waysOf(manifest))
      if ('endpoint' in way && typeof way.endpoint === 'object') used.add(way.endpoint.upstream);
    for (const id of Object.keys(manifest.upstreams))
      if (!used.has(id)) yield atKey(['upstreams', id], `no route goes to "${id}"; give it one, or remove it`);
  },
};
