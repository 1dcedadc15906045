import type { Path } from '../../../engine/problem/finding.ts';
import { findingAt, rulesOf } from '../rule.ts';

/** Rules for texts that clients receive. */
export const TEXT_RULES = rulesOf('manifest', {
  'environment-message': {
    level: ['warning', 'minimal'],
    rationale:
      'The gateway never prints values from the environment, so clients get the default text instead of this one.',
    *find({ schemas, secrets }) {
      const texts: Path[] = [
        ['auth', 'role', 'message'],
        ['auth', 'realm'],
        ...schemas.flatMap(({ path, schema }) =>
          Object.hasOwn(schema, 'errorMessage') ? [[...path, 'errorMessage']] : [],
        ),
      ];
      for (const path of texts)
        if (secrets.isSecret(path))
          yield findingAt(path, 'clients do not receive a text from the environment; write the text in the manifest');
    },
  },
});
