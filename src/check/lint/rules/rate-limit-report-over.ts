import { findingAt, type Rule } from '../rule.ts';

export const rateLimitReportOver: Rule = {
  id: 'rate-limit-report-over',
  category: 'limits',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'A limit that only reports protects nothing, and its author planned to enforce it after this date.',
  *find({ plan, today }) {
    for (const { id, reportUntil } of plan.rateLimits)
      if (reportUntil !== undefined && reportUntil < today)
        yield findingAt(
          ['rateLimits', id, 'reportUntil'],
          'this date has passed, and the limit still only reports; write mode: enforce, or set a later date',
        );
  },
};
