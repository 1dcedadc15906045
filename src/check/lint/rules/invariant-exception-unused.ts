import { findingAt, type Rule } from '../rule.ts';

export const invariantExceptionUnused: Rule = {
  id: 'invariant-exception-unused',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'The exception would hide a later mistake in this route.',
  *find({ unusedExceptions }) {
    for (const { path, route } of unusedExceptions())
      yield findingAt(path, `"${route}" meets the requirement without this exception; remove it`);
  },
};
