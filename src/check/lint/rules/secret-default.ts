import { findingAt, type Rule } from '../rule.ts';
import { stringValues } from '../string-values.ts';

export const secretDefault: Rule = {
  id: 'secret-default',
  category: 'secrets',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'Every deployment that does not set the variable uses the same public secret.',
  *find({ document }) {
    for (const { text, path } of stringValues(document.value, (text) => text.includes('${'))) {
      const [, name] = REFERENCE.exec(text) ?? [];
      if (name === undefined) continue;
      const message = `if ${name} is not set, the gateway uses the secret that this file contains; write \${${name}} without a default`;
      yield findingAt(path, message, { isSecret: true });
    }
  },
};

/** A reference to a variable that is named like a secret, with a default. */
const REFERENCE =
  /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*(?:SECRET|PASSWORD|PASSWD|_TOKEN|API_?KEY|PRIVATE_?KEY|_KEY)):-[^}]+\}/i;
