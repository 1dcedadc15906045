/** The characters of `\s` in JSON Schema's dialect (ECMA-262 section 22.2.2.9), for use in an RE2 class. */
const SPACES = '\\t\\n\\x0B\\f\\r\\x{FEFF}\\p{Z}';
const LINE_ENDS = '\\n\\r\\x{2028}\\x{2029}';

/**
 * Translates a pattern of JSON Schema to RE2. Both accept `.` and `\s`, but RE2 matches fewer characters with them. RE2
 * cannot express `\S` inside of a class, so the function throws.
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
