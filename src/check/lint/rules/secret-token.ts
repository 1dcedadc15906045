import type { Rule } from '../rule.ts';
import { SECRET_FORMATS } from '../secret-text.ts';

export const secretToken: Rule = {
  id: 'secret-token',
  category: 'secrets',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'The file is copied to repositories, images and backups, and anyone who can read one of them has the secret until it is revoked.',
  *find({ document }) {
    for (const { text, file } of [document, ...document.included])
      for (const [kind, pattern] of Object.entries(SECRET_FORMATS))
        for (const { index, 0: match } of text.matchAll(pattern))
          yield {
            location: { start: index, end: index + match.length, file },
            message: `this looks like ${kind}; revoke it at its issuer, and write \${NAME} instead`,
            isSecret: true,
          };
  },
};
