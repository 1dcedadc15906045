import { isLoopback } from '../hosts.ts';
import { at, type Rule } from '../rule.ts';

export const adminExposed: Rule = {
  id: 'admin-exposed',
  family: 'operations',
  severity: 'warning',
  preset: 'minimal',
  why: 'The admin side asks nobody for a token: whoever reaches it sees upstreams, routes and how they are.',
  *find({ plan, isSecret }) {
    if (plan.admin === undefined || isLoopback(plan.admin.host)) return;
    const meant = isSecret(['admin']) ? '127.0.0.1' : `127.0.0.1:${plan.admin.port}`;
    yield at(['admin'], `other machines reach the operators' side here, and it asks for no token; write ${meant}`);
  },
};
