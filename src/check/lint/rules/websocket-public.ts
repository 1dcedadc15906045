import { findingAtKey, type Rule } from '../rule.ts';

export const websocketPublic: Rule = {
  id: 'websocket-public',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'The gateway does not inspect WebSocket messages, and on a public route it does not authenticate the client either.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (entry.websocket !== false && entry.access === 'public')
        yield findingAtKey(
          [...path, 'websocket'],
          'anyone may open a WebSocket to the upstream here; write access: protected, or make sure that the upstream authenticates clients',
        );
  },
};
