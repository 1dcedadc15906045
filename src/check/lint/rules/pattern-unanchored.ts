import { findingAt, type Rule } from '../rule.ts';

export const patternUnanchored: Rule = {
  id: 'pattern-unanchored',
  category: 'validation',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A pattern may match anywhere in a text, so without ^ and $ it also accepts arbitrary text before and after the match.',
  *find({ schemas }) {
    for (const { schema, path, isCondition } of schemas) {
      const pattern = schema['pattern'];
      if (isCondition || typeof pattern !== 'string') continue;
      const reason = unanchoredReason(pattern);
      if (reason !== undefined) yield findingAt([...path, 'pattern'], reason);
    }
  },
};

function unanchoredReason(pattern: string): string | undefined {
  const starts = /^(?:\(\?i\))?\^/.test(pattern);
  const ends = /(?:^|[^\\])(?:\\\\)*\$$/.test(pattern);
  if (!starts && !ends) return 'this pattern accepts any text that contains a match; start it with ^ and end it with $';
  if (!starts) return 'this pattern accepts any text before the match; start it with ^';
  if (!ends) return 'this pattern accepts any text after the match; end it with $';
  if (hasBranches(pattern)) return '^ applies only to the first branch, and $ only to the last; write ^(?:…|…)$';
  return undefined;
}

/** True if the pattern contains a `|` outside of all brackets. */
function hasBranches(pattern: string): boolean {
  const simplified = pattern.replaceAll(/\\[\s\S]/g, '').replaceAll(/\[\^?\]?[^\]]*\]/g, '');
  let depth = 0;
  for (const character of simplified) {
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === '|' && depth === 0) return true;
  }
  return false;
}
