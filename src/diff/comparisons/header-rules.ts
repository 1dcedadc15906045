import { isDeepStrictEqual } from 'node:util';
import type { Comparison, DiffFinding } from '../difference.ts';
import { formatRedactedValue } from '../side.ts';
import { findingAtKey, matchedRoutes } from './matched-routes.ts';

const SIDES = [
  ['requestHeaders', 'request'],
  ['responseHeaders', 'answer'],
] as const;

export const headersChanged: Comparison = {
  id: 'headers-changed',
  severity: 'info',
  description: 'Other headers are set or removed on their way.',
  *find({ old, next, pairs, ...rest }) {
    for (const pair of matchedRoutes({ old, next, pairs, ...rest }))
      for (const [key, whose] of SIDES) {
        const names = headerNames(pair.from.entry[key], pair.to.entry[key]);
        const changed = names.filter(
          (name) => !isDeepStrictEqual(ruleOf(pair.from.entry[key], name), ruleOf(pair.to.entry[key], name)),
        );
        for (const name of changed) {
          const say = (isNext: boolean): string => {
            const { entry, path } = isNext ? pair.to : pair.from;
            const rule = ruleOf(entry[key], name);
            if (rule === undefined) return 'passes';
            if (rule === null) return 'is removed';
            return `is set to ${formatRedactedValue(isNext ? next : old, [...path, key, 'set', name])}`;
          };
          const found: DiffFinding = findingAtKey(
            pair,
            key,
            `has another rule: ${name} of the ${whose} ${say(true)}, before it ${say(false)}`,
          );
          yield found;
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

/** What a header is set to; `null`: it is removed; `undefined`: nothing is done about it. */
function ruleOf(rules: HeaderRuleEntry | undefined, name: string): string | null | undefined {
  if (rules !== undefined && Object.hasOwn(rules.set, name)) return rules.set[name];
  return rules?.remove.includes(name) ? null : undefined;
}
