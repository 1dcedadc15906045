import { isDeepStrictEqual } from 'node:util';
import type { Comparison } from '../difference.ts';
import { formatRedactedValue } from '../side.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

const DIRECTIONS = [
  ['requestHeaders', 'request'],
  ['responseHeaders', 'response'],
] as const;

export const headersChanged: Comparison = {
  id: 'headers-changed',
  severity: 'info',
  description: 'The headers that the gateway sets or removes changed.',
  *find(sides) {
    for (const pair of matchedRoutes(sides))
      for (const [key, direction] of DIRECTIONS) {
        const names = headerNames(pair.from.entry[key], pair.to.entry[key]);
        const changed = names.filter(
          (name) => !isDeepStrictEqual(ruleOf(pair.from.entry[key], name), ruleOf(pair.to.entry[key], name)),
        );
        for (const name of changed) {
          const describeRule = (isNext: boolean): string => {
            const { entry, path } = isNext ? pair.to : pair.from;
            const rule = ruleOf(entry[key], name);
            if (rule === undefined) return 'forward';
            if (rule === null) return 'remove';
            return `set to ${formatRedactedValue(isNext ? sides.next : sides.old, [...path, key, 'set', name])}`;
          };
          const text = `has a different rule for the ${direction} header ${name}: ${describeRule(true)} (was: ${describeRule(false)})`;
          yield findingAtKey(pair, key, text);
        }
      }
  },
};

interface HeaderRuleEntry {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

function headerNames(...rules: (HeaderRuleEntry | undefined)[]): string[] {
  return [...new Set(rules.flatMap((rule) => [...Object.keys(rule?.set ?? {}), ...(rule?.remove ?? [])]))].sort();
}

/** Returns the value that a header is set to, `null` if it is removed, or `undefined` if it has no rule. */
function ruleOf(rules: HeaderRuleEntry | undefined, name: string): string | null | undefined {
  if (rules !== undefined && Object.hasOwn(rules.set, name)) return rules.set[name];
  return rules?.remove.includes(name) ? null : undefined;
}
