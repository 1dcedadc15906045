import { findingAtKey, type Rule } from '../rule.ts';

export const websocketPublic: Rule = {
  id: 'websocket-public',
  category: 'auth',
  severity: 'info',
  preset: 'recommended',
  rationale: 'What goes through a tunnel is not looked at, and here nobody is asked who opened it.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (entry.websocket !== false && entry.access === 'public')
        yield findingAtKey(
          [...path, 'websocket'],
          'anyone may open a tunnel to the upstream here; write access: protected, or make sure that the upstream asks',
        );
  },
};
