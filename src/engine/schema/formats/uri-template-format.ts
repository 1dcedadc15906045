import { outside, PRIVATE_CHARACTERS, UCS_CHARACTERS } from './uri-formats.ts';

/** `literals` of RFC 6570 section 2.1, with the apostrophe, which its erratum 6937 adds. */
const NOT_LITERAL = outside(`!#$&'()*+,\\-./0-9:;=?@A-Z\\[\\]_a-z~${UCS_CHARACTERS}${PRIVATE_CHARACTERS}`);
const OPERATOR = /^[+#./;?&=,!@|]/;
/** Decimal digits of at most 9999, or the asterisk (section 2.4). */
const MODIFIER = /(?::[1-9]\d{0,3}|\*)$/;
const NOT_NAME = /^$|^\.|\.\.|\.$|[^A-Za-z0-9_.%]|%(?![0-9A-Fa-f]{2})/;

/** `URI-Template` of RFC 6570 section 2: literals, and expressions in braces. Reserved operators are valid. */
export function isUriTemplate(text: string): boolean {
  let at = 0;
  for (;;) {
    const open = text.indexOf('{', at);
    if (NOT_LITERAL.test(text.slice(at, open === -1 ? undefined : open))) return false;
    if (open === -1) return true;
    const close = text.indexOf('}', open);
    if (close === -1 || !isExpression(text.slice(open + 1, close))) return false;
    at = close + 1;
  }
}

function isExpression(expression: string): boolean {
  const variables = expression.replace(OPERATOR, '').split(',');
  return variables.every((variable) => !NOT_NAME.test(variable.replace(MODIFIER, '')));
}
