import { findingAt, type Rule } from '../rule.ts';

/** Longer than the default idle timeouts of an AWS ALB (60 s) and of nginx (60 s); that of Envoy is one hour. */
const MIN_MS = 61_000;

export const keepAliveShort: Rule = {
  id: 'keep-alive-short',
  category: 'operations',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'If the gateway closes an idle connection while a load balancer sends a request on it, the client of the load balancer gets a 502 response.',
  *find({ manifest, plan }) {
    if (plan.server.keepAliveTimeoutMs >= MIN_MS) return;
    const { keepAlive } = manifest.server.timeouts;
    const message = `a load balancer keeps idle connections longer than ${keepAlive} and would send a request on a closed one; write more than its own timeout, for example 620s`;
    yield findingAt(['server', 'timeouts', 'keepAlive'], message);
  },
};
