import { findingAt, type Rule } from '../rule.ts';

export const listenTwice: Rule = {
  id: 'listen-twice',
  category: 'operations',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'Two servers cannot have one address: the gateway would not start.',
  *find({ plan: { listen, admin } }) {
    if (admin === undefined || admin.port === 0 || admin.port !== listen.port) return;
    const isShared =
      admin.host === listen.host || [admin.host, listen.host].some((host) => /^(?:0\.0\.0\.0|::)$/.test(host));
    if (isShared)
      yield findingAt(['admin'], 'clients are served at this port already; write another one', {
        related: { path: ['listen'], message: 'there' },
      });
  },
};
