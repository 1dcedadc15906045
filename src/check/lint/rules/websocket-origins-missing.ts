import { findingAt, type Rule } from '../rule.ts';

export const websocketOriginsMissing: Rule = {
  id: 'websocket-origins-missing',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Browsers let every page open a WebSocket to any server, so the gateway accepts only pages of its own host unless origins are listed.',
  *find({ routes, manifest }) {
    if (manifest.cors !== undefined) return;
    for (const { entry, path } of routes)
      if (entry.websocket === true && entry.access === 'public')
        yield findingAt(
          [...path, 'websocket'],
          'no origins are listed, so only pages of the same host may open a WebSocket here; write websocket: { origins: [https://app.example] }',
        );
  },
};
