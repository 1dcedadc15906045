import type { Path } from '../../../engine/problem/finding.ts';
import { findingAt, type Rule } from '../rule.ts';
import { stringValues } from '../string-values.ts';

export const secretHeader: Rule = {
  id: 'secret-header',
  category: 'secrets',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'A key that the gateway sends to an upstream works like a password, and anyone who can read the file has it.',
  *find({ document }) {
    const isSetHeader = (text: string, [, , key, operation]: Path) =>
      key === 'requestHeaders' && operation === 'set' && !text.includes('${');
    for (const { text, path } of stringValues(document.value, isSetHeader, mayHoldHeaders)) {
      const isSecret = NAME.test(String(path[4])) ? text.length >= 8 : VALUE.test(text);
      if (isSecret)
        yield findingAt(path, 'this looks like a secret; write ${NAME}, and set the variable NAME', { isSecret });
    }
  },
};

function mayHoldHeaders([first = 'routes', , key = 'requestHeaders']: Path): boolean {
  return first === 'routes' && key === 'requestHeaders';
}

const NAME = /(?:key|token|secret|password|passwd|credentials?|authorization)$/i;
const VALUE = /^(?:Basic|Bearer) +\S{8,}$/i;
