import { isLoopback } from '../hosts.ts';
import { at, type Rule } from '../rule.ts';

export const listenExposed: Rule = {
  id: 'listen-exposed',
  family: 'operations',
  severity: 'info',
  preset: 'recommended',
  why: 'The gateway speaks plain HTTP to its clients: beyond this machine, tokens and passwords can be read on the way, unless something before it ends TLS.',
  *find({ plan }) {
    if (isLoopback(plan.listen.host)) return;
    yield at(
      ['listen'],
      'other machines reach this in plain HTTP; listen on 127.0.0.1 beside what ends TLS, or make sure that nothing else reaches it',
    );
  },
};
