import { findingAt, type Rule } from '../rule.ts';

/** What load balancers keep a connection for at least: an AWS ALB for 60 s, nginx for 60 s, Envoy for an hour. */
const LEAST_MS = 61_000;

export const keepAliveShort: Rule = {
  id: 'keep-alive-short',
  category: 'operations',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Who closes first decides: a load balancer that sends on a connection which is being closed here answers its client 502.',
  *find({ manifest, plan }) {
    if (plan.server.keepAliveTimeoutMs >= LEAST_MS) return;
    const { keepAlive } = manifest.server.timeouts;
    const message = `a load balancer keeps its connections longer than ${keepAlive}, and would send on one that is closed; write more than it does, 620s say`;
    yield findingAt(['server', 'timeouts', 'keepAlive'], message);
  },
};
