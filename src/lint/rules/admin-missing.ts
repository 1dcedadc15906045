import { at, type Rule } from '../rule.ts';

export const adminMissing: Rule = {
  id: 'admin-missing',
  family: 'operations',
  severity: 'info',
  preset: 'strict',
  why: 'Without it nobody can ask whether the gateway is alive and ready, and which manifest is in force.',
  *find({ plan }) {
    if (plan.admin === undefined) yield at([], 'nobody can ask how the gateway is; add admin: 127.0.0.1:9901');
  },
};
