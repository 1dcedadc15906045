import { at, type Rule } from '../rule.ts';

export const validationReport: Rule = {
  id: 'validation-report',
  family: 'validation',
  severity: 'info',
  preset: 'recommended',
  why: 'What does not fit goes on all the same; it is a step on the way, and easily forgotten.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (entry.validation === 'report')
        yield at(
          [...path, 'validation'],
          'what does not fit is logged and goes on; write enforce once the log is quiet',
        );
  },
};
