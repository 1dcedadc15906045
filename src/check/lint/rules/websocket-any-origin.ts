import type { Path } from '../../../engine/problem/finding.ts';
import { findingAt, type Rule } from '../rule.ts';

export const websocketAnyOrigin: Rule = {
  id: 'websocket-any-origin',
  category: 'auth',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Any page on the web can open a WebSocket from the browsers of its visitors, with their cookies and their network access.',
  *find({ routes, manifest }) {
    const corsPath: Path[] = manifest.cors?.origins.includes('*') ? [['cors', 'origins', 0]] : [];
    for (const { entry, path } of routes) {
      const origins = typeof entry.websocket === 'object' ? entry.websocket.origins : undefined;
      const isAny = origins === undefined ? entry.websocket === true && corsPath.length > 0 : origins.includes('*');
      if (!isAny) continue;
      const [related] = origins === undefined ? corsPath : [];
      yield findingAt(
        [...path, 'websocket'],
        'pages of any origin may open a WebSocket here; write websocket: { origins: [...] } with the origins that need access',
        related && { related: { path: related, message: 'the list that applies here' } },
      );
    }
  },
};
