import { findingAt, type Rule } from '../rule.ts';

export const adminMissing: Rule = {
  id: 'admin-missing',
  category: 'operations',
  severity: 'info',
  preset: 'strict',
  rationale: 'Without it nobody can ask whether the gateway is alive and ready, and which manifest is in force.',
  *find({ plan }) {
    if (plan.admin === undefined) yield findingAt([], 'nobody can ask how the gateway is; add admin: 127.0.0.1:9901');
  },
};
