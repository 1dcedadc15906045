import { isLoopback } from '../../../engine/dns/loopback.ts';
import { findingAt, type Rule } from '../rule.ts';

export const listenExposed: Rule = {
  id: 'listen-exposed',
  category: 'operations',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Without TLS anyone on the network path can read tokens and passwords, unless a proxy in front of the gateway terminates TLS.',
  *find({ plan }) {
    if (isLoopback(plan.listen.host) || plan.server.tls !== undefined) return;
    yield findingAt(
      ['listen'],
      'other machines reach this address over plain HTTP; add server: { tls: … }, or listen on 127.0.0.1 behind a local TLS proxy',
    );
  },
};
