import { findingAt, type Rule } from '../rule.ts';

export const listenPrivileged: Rule = {
  id: 'listen-privileged',
  category: 'operations',
  severity: 'info',
  preset: 'strict',
  rationale: 'On most systems only root may bind ports below 1024, and a gateway should not run as root.',
  *find({ plan, secrets }) {
    for (const key of ['listen', 'admin'] as const) {
      const port = plan[key]?.port ?? 0;
      if (port > 0 && port < 1024)
        yield findingAt(
          [key],
          `${secrets.isSecret([key]) ? 'this port' : `port ${port}`} requires privileges that a gateway should not have; write a port of 1024 or above`,
        );
    }
  },
};
