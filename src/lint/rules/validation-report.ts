import { findingAt, type Rule } from '../rule.ts';

export const validationReport: Rule = {
  id: 'validation-report',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale: 'What does not fit goes on all the same; it is a step on the way, and easily forgotten.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (entry.validation === 'report')
        yield findingAt(
          [...path, 'validation'],
          'what does not fit is logged and goes on; write enforce once the log is quiet',
        );
  },
};
