import { findingAt, type Rule } from '../rule.ts';
import { stringValues } from '../string-values.ts';

export const secretDefault: Rule = {
  id: 'secret-default',
  category: 'secrets',
  severity: 'warning',
  preset: 'minimal',
  rationale: 'The default of a secret is the secret of everybody who forgot to set one, and everybody knows it.',
  *find({ document }) {
    for (const { text, path } of stringValues(document.value)) {
      const [, name] = REFERENCE.exec(text) ?? [];
      if (name === undefined) continue;
      const message = `whoever does not set ${name} is served with a secret that stands in the file; write \${${name}}`;
      yield findingAt(path, message, { isSecret: true });
    }
  },
};

/** A variable that is named for a secret, with a default. */
const REFERENCE =
  /(?<!\$)\$\{([A-Za-z_][A-Za-z0-9_]*(?:SECRET|PASSWORD|PASSWD|_TOKEN|API_?KEY|PRIVATE_?KEY|_KEY)):-[^}]+\}/i;
