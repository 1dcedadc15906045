import { isDeepStrictEqual } from 'node:util';
import { foldHeaderName } from '../../../engine/header-names.ts';
import { claimHeadersOf } from '../../../engine/tokens/token-entries.ts';
import type { Comparison, DiffFinding, MatchedRoutePair } from '../difference.ts';
import { findingAtKey, matchedRoutes, rewrittenRoutes } from '../matched-routes.ts';
import type { DiffRoute, DiffSide } from '../side.ts';
import { forwardedWitness } from '../witnesses/sample-witnesses.ts';

export const headerComparison: Comparison = {
  rules: {
    'headers-changed': ['info', 'The headers that the gateway sets or removes changed.'],
    'header-override-kept': [
      'error',
      'The gateway forwards headers with which a client may forge its address or identity, or override the method, path, host or scheme.',
    ],
    'header-override-dropped': [
      'info',
      'The gateway drops headers with which a client may forge its address or identity, or override the method, path, host or scheme.',
    ],
  },
  *find(sides) {
    for (const pair of rewrittenRoutes(sides)) for (const direction of DIRECTIONS) yield* changedRules(pair, direction);
    for (const pair of matchedRoutes(sides)) {
      yield* keptHeaderFindings(pair, true);
      yield* keptHeaderFindings(pair, false);
    }
  },
};

/** The directions, and the form in which two names of a header are equal. */
const DIRECTIONS = [
  { key: 'requestHeaders', direction: 'request', fold: foldHeaderName },
  { key: 'responseHeaders', direction: 'response', fold: (name: string) => name.toLowerCase() },
] as const;

type Direction = (typeof DIRECTIONS)[number];

function* changedRules(pair: MatchedRoutePair, direction: Direction): Generator<DiffFinding> {
  const [old, next] = [headerRules(pair.from, direction), headerRules(pair.to, direction)];
  for (const name of [...new Set(old.keys()).union(next)].sort()) {
    const [before, now] = [old.get(name), next.get(name)];
    if (isDeepStrictEqual(before?.effect, now?.effect)) continue;
    const text = `has a different rule for the ${direction.direction} header ${(now ?? before)?.name}: ${now?.text ?? FORWARD} (was: ${before?.text ?? FORWARD})`;
    const rules = [before, now].filter((rule) => rule !== undefined);
    yield findingAtKey(pair, 'headers-changed', direction.key, text, headerWitness(pair, direction, rules));
  }
}

const FORWARD = 'forward';

interface HeaderRule {
  /** As written. */
  readonly name: string;
  /** The name and value that it sets; `null` if it removes the header. */
  readonly effect: readonly [name: string, value: string] | null;
  /** The rule as it may be printed. */
  readonly text: string;
}

/** Returns the rules of a route by the folded names of the headers. */
function headerRules({ entry, redactedEntry }: DiffRoute, { key, fold }: Direction): ReadonlyMap<string, HeaderRule> {
  const { set = {}, remove = [] } = entry[key] ?? {};
  const removed = remove.map((name, index): [string, HeaderRule] => {
    const printed = redactedEntry[key]?.remove[index] ?? name;
    return [fold(name), { name: printed, effect: null, text: 'remove' }];
  });
  const added = Object.entries(set).map(([name, value]): [string, HeaderRule] => {
    const text = `set to ${redactedEntry[key]?.set[name]}`;
    // The letter case of a name means nothing, but other characters stay as they are written.
    return [fold(name), { name, effect: [name.toLowerCase(), value], text }];
  });
  return new Map([...removed, ...added]);
}

/** A removed request header is visible if the client sends it. A removed response header depends on the upstream. */
function headerWitness(pair: MatchedRoutePair, { key }: Direction, rules: readonly HeaderRule[]) {
  if (rules.some(({ effect }) => effect !== null)) return forwardedWitness(pair);
  const [rule] = rules;
  return key === 'requestHeaders' && rule ? forwardedWitness(pair, [rule.name, 'x']) : undefined;
}

/** Yields a finding if the new route forwards headers that the old one drops or, if not wider, the reverse. */
function* keptHeaderFindings(pair: MatchedRoutePair, isWider: boolean): Generator<DiffFinding> {
  const [more, less] = isWider ? [pair.to, pair.from] : [pair.from, pair.to];
  const kept = new Set(keptHeaders(less).map(foldHeaderName));
  const names = keptHeaders(more).filter((name) => !kept.has(foldHeaderName(name)));
  const [first] = names;
  if (first === undefined) return;
  const redacted = more.redactedEntry.requestHeaders?.keep ?? [];
  const printed = names.map((name) => redacted[keptHeaders(more).indexOf(name)] ?? name);
  const [rule, change] = isWider ? ['header-override-kept', 'forwards'] : ['header-override-dropped', 'drops'];
  const message = `now ${change} these headers: ${printed.join(', ')}`;
  yield findingAtKey(pair, rule, 'requestHeaders', message, forwardedWitness(pair, [first, 'x']));
}

function keptHeaders({ entry }: DiffRoute): readonly string[] {
  return entry.requestHeaders?.keep ?? [];
}

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
