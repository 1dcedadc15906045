import { foldHeaderName } from '../../../engine/header-names.ts';
import { claimHeadersOf } from '../../../engine/tokens/token-entries.ts';
import type { Comparison } from '../difference.ts';
import { findingAtKey, matchedRoutes } from '../matched-routes.ts';
import type { DiffSide } from '../side.ts';

/** Compares the headers that the gateway sets from claims: by default once, and on routes with their own. */
export const claimComparison: Comparison = {
  rules: {
    'claim-header-added': ['info', 'The gateway sets a header from a claim, and removes those of clients.'],
    'claim-header-removed': ['warning', 'The gateway no longer sets a header from a claim.'],
    'claim-header-changed': [
      'warning',
      'A header has another claim or spelling, or a missing claim has another effect.',
    ],
  },
  *find(sides) {
    const common = (side: DiffSide) => headersOf(side, { access: 'protected' });
    for (const { rule, text } of changesOf(common(sides.old), common(sides.next)))
      yield { rule, message: `"auth.forward" ${text}`, path: ['auth', 'forward'] };
    for (const pair of matchedRoutes(sides)) {
      const { from, to } = pair;
      if ((from.entry.forward ?? to.entry.forward) === undefined) continue;
      for (const { rule, text } of changesOf(headersOf(from.side, from.entry), headersOf(to.side, to.entry)))
        yield findingAtKey(pair, rule, 'forward', text);
    }
  },
};

/** Returns the headers by their folded names, each with its rule and with a text that may be printed. */
function headersOf({ manifest, secrets }: DiffSide, entry: Parameters<typeof claimHeadersOf>[0]) {
  const headers = claimHeadersOf(entry, manifest.auth?.forward).map(({ name, claim, missing }) => {
    const text = `${name} from the claim ${claim}${missing === 'omit' ? ' if the token has it' : ''}`;
    const folded = foldHeaderName(name);
    // Many servers drop names with underscores, so another separator is a change.
    const rule = JSON.stringify([name.toLowerCase(), claim, missing]);
    return [folded, { rule, text: secrets.redactText(text) }] as const;
  });
  return new Map(headers);
}

type Headers = ReturnType<typeof headersOf>;

function* changesOf(old: Headers, next: Headers) {
  for (const name of new Set([...old.keys(), ...next.keys()])) {
    const [before, now] = [old.get(name), next.get(name)];
    if (now === undefined) yield { rule: 'claim-header-removed', text: `no longer sets ${before?.text}` };
    else if (before === undefined) yield { rule: 'claim-header-added', text: `now sets ${now.text}` };
    else if (before.rule !== now.rule)
      yield { rule: 'claim-header-changed', text: `now sets ${now.text} (was: ${before.text})` };
  }
}
