import { findingAt, type Rule } from '../rule.ts';

export const adminMissing: Rule = {
  id: 'admin-missing',
  category: 'operations',
  severity: 'info',
  preset: 'strict',
  rationale:
    'Without the admin API, probes cannot check whether the gateway is ready, and operators cannot see which manifest is active.',
  *find({ plan }) {
    if (plan.admin === undefined)
      yield findingAt([], 'the gateway has no admin API for health checks and metrics; add admin: 127.0.0.1:9901');
  },
};
