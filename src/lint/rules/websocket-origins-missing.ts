import { findingAt, type Rule } from '../rule.ts';

export const websocketOriginsMissing: Rule = {
  id: 'websocket-origins-missing',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Browsers let every page open a WebSocket to any server, and without a list only pages of the same host may open one here.',
  *find({ routes, manifest }) {
    if (manifest.cors !== undefined) return;
    for (const { entry, path } of routes)
      if (entry.websocket === true && entry.access === 'public')
        yield findingAt(
          [...path, 'websocket'],
          'the origins whose pages may open a tunnel here are not listed; write websocket: { origins: [https://app.example] }',
        );
  },
};
