import type { Path } from '../../problem/finding.ts';
import { findingAt, type Rule } from '../rule.ts';

export const websocketAnyOrigin: Rule = {
  id: 'websocket-any-origin',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Any page on the web can open a tunnel from the browsers of those who visit it, with the network and the cookies that they have.',
  *find({ routes, manifest }) {
    const shared: Path[] = manifest.cors?.origins.includes('*') ? [['cors', 'origins', 0]] : [];
    for (const { entry, path } of routes) {
      const own = typeof entry.websocket === 'object' ? entry.websocket.origins : undefined;
      const isAny = own === undefined ? entry.websocket === true && shared.length > 0 : own.includes('*');
      if (!isAny) continue;
      const [related] = own === undefined ? shared : [];
      yield findingAt(
        [...path, 'websocket'],
        'pages of any origin may open a tunnel here; write websocket: { origins: [...] } with those that may',
        related && { related: { path: related, message: 'the list that holds here' } },
      );
    }
  },
};
