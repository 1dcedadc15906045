import { findingAt, type Rule } from '../rule.ts';

export const listenTwice: Rule = {
  id: 'listen-twice',
  category: 'operations',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'Two servers cannot bind the same address, so the gateway would not start.',
  *find({ plan: { listen, admin } }) {
    if (admin === undefined || admin.port === 0 || admin.port !== listen.port) return;
    const isShared =
      admin.host === listen.host || [admin.host, listen.host].some((host) => /^(?:0\.0\.0\.0|::)$/.test(host));
    if (isShared)
      yield findingAt(['admin'], '"listen" already uses this port; write another one', {
        related: { path: ['listen'], message: 'the same port' },
      });
  },
};
