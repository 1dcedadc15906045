/** What `\s` is in JSON Schema's dialect (ECMA-262 section 22.2.2.9), as the inside of a class of RE2's. */
const SPACES = '\\t\\n\\x0B\\f\\r\\x{FEFF}\\p{Z}';
const LINE_ENDS = '\\n\\r\\x{2028}\\x{2029}';

/**
 * A pattern of JSON Schema in RE2's language. They differ without a word in two places: `.` and `\s`, which are
 * less in RE2. A `\S` in a class cannot be told in RE2's words, and throws.
 */
export function toRe2(pattern: string): string {
  let isInClass = false;
  return pattern.replaceAll(/\\.|[[\].]/gs, (token) => {
    if (token === '[' && !isInClass) isInClass = true;
    else if (token === ']') isInClass = false;
    else if (token === '\\s') return isInClass ? SPACES : `[${SPACES}]`;
    else if (token === '\\S') {
      if (isInClass) throw new Error('\\S inside of [...]');
      return `[^${SPACES}]`;
    } else if (token === '.' && !isInClass) return `[^${LINE_ENDS}]`;
    return token;
  });
}
