import { isLoopback } from '../../../engine/dns/loopback.ts';
import { findingAt, type Rule } from '../rule.ts';

export const adminPlain: Rule = {
  id: 'admin-plain',
  category: 'operations',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'Anyone who can read the network traffic obtains the admin token, and with it full access to the admin API.',
  *find({ plan: { admin } }) {
    if (admin === undefined || admin.tls !== undefined || isLoopback(admin.host)) return;
    yield findingAt(['admin'], 'the admin token crosses the network in plain text; add tls:');
  },
};
