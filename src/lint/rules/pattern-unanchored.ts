import { findingAt, type Rule } from '../rule.ts';

export const patternUnanchored: Rule = {
  id: 'pattern-unanchored',
  category: 'validation',
  severity: 'warning',
  preset: 'recommended',
  rationale:
    'A pattern is looked for anywhere in the text: without ^ and $ whatever stands before and behind what is meant passes too.',
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
  const starts = /^(?:\(\?[a-z]+\))?(?:\^|\\A)/.test(pattern);
  const ends = /(?:^|[^\\])(?:\\\\)*(?:\$|\\z)$/.test(pattern);
  if (!starts && !ends) return 'this passes wherever in the text it is found; write ^ before it and $ behind it';
  if (!starts) return 'whatever stands before this in the text passes too; write ^ before it';
  if (!ends) return 'whatever stands behind this in the text passes too; write $ behind it';
  if (hasBranches(pattern)) return 'the ^ belongs to the first branch alone, and the $ to the last; write ^(?:…|…)$';
  return undefined;
}

/** Whether a `|` stands outside of all brackets. */
function hasBranches(pattern: string): boolean {
  const bare = pattern.replaceAll(/\\[\s\S]/g, '').replaceAll(/\[\^?\]?[^\]]*\]/g, '');
  let depth = 0;
  for (const character of bare) {
    if (character === '(') depth += 1;
    else if (character === ')') depth -= 1;
    else if (character === '|' && depth === 0) return true;
  }
  return false;
}
