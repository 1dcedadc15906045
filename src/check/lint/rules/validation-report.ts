import { findingAt, type Rule } from '../rule.ts';

export const validationReport: Rule = {
  id: 'validation-report',
  category: 'validation',
  severity: 'info',
  preset: 'recommended',
  rationale: 'The gateway still forwards invalid requests; this is meant for a transition and is easily forgotten.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (entry.validation === 'report')
        yield findingAt(
          [...path, 'validation'],
          'the gateway logs invalid requests but forwards them; write enforce when the log shows no more violations',
        );
  },
};
