import type { Path } from '../../problem/finding.ts';
import { findingAt, type Rule } from '../rule.ts';

export const environmentMessage: Rule = {
  id: 'environment-message',
  category: 'manifest',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'A value from the environment is never printed, so clients get the usual text in place of this one.',
  *find({ schemas, secrets }) {
    const texts: Path[] = [
      ['auth', 'role', 'message'],
      ['auth', 'realm'],
      ...schemas.map(({ path }) => [...path, 'errorMessage']),
    ];
    for (const path of texts)
      if (secrets.isSecret(path))
        yield findingAt(path, 'clients do not see a text from the environment; write the text itself');
  },
};
