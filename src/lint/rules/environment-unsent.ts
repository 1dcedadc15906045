import type { Path } from '../../problem/finding.ts';
import { at, type Rule } from '../rule.ts';

export const environmentUnsent: Rule = {
  id: 'environment-unsent',
  family: 'manifest',
  severity: 'warning',
  preset: 'minimal',
  why: 'A value from the environment is never printed, so clients get the usual text in place of this one.',
  *find({ schemas, secrets }) {
    const texts: Path[] = [
      ['auth', 'role', 'message'],
      ['auth', 'realm'],
      ...schemas.map(({ path }) => [...path, 'errorMessage']),
    ];
    for (const path of texts)
      if (secrets.isSecret(path))
        yield at(path, 'clients do not see a text from the environment; write the text itself');
  },
};
