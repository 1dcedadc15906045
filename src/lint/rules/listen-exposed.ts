import { isLoopback } from '../../loopback.ts';
import { findingAt, type Rule } from '../rule.ts';

export const listenExposed: Rule = {
  id: 'listen-exposed',
  category: 'operations',
  severity: 'info',
  preset: 'recommended',
  rationale:
    'Without TLS, tokens and passwords can be read on the way from another machine, unless something before the gateway ends TLS.',
  *find({ plan }) {
    if (isLoopback(plan.listen.host) || plan.server.tls !== undefined) return;
    yield findingAt(
      ['listen'],
      'other machines reach this in plain HTTP; add server: { tls: … }, or listen on 127.0.0.1 beside what ends TLS',
    );
  },
};
