import { isLoopback } from '../../loopback.ts';
import { findingAt, type Rule } from '../rule.ts';

export const adminPlain: Rule = {
  id: 'admin-plain',
  category: 'operations',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'Whoever is on the way reads the token of the operators, and is one of them from then on.',
  *find({ plan: { admin } }) {
    if (admin === undefined || admin.tls !== undefined || isLoopback(admin.host)) return;
    yield findingAt(['admin'], 'operators send their token through the network in plain text here; add tls:');
  },
};
