import type { Finding, Path, RouteWitness, Severity } from '../../engine/problem/finding.ts';
import { type TokenEntry, tokenEntries } from '../../engine/tokens/token-entries.ts';
import { type LintContext, type LintRoute, type LintUpstream, type SchemaNode, upstreamsOf } from './lint-context.ts';

/** From the smallest to the largest: each preset contains the rules of the presets before it. */
export const PRESETS = ['minimal', 'recommended', 'strict'] as const;

export type Preset = (typeof PRESETS)[number];

/** The titles of the categories, in the order of the docs. */
export const CATEGORIES = {
  manifest: 'Manifest',
  routes: 'Routes',
  auth: 'Authentication',
  validation: 'Validation',
  limits: 'Rate limits',
  upstreams: 'Upstreams',
  operations: 'Operations',
  secrets: 'Secrets',
  directives: 'Directives',
  online: 'Online checks',
} as const;

export interface Rule {
  /** Kebab-case, stable across versions. */
  readonly id: string;
  readonly category: keyof typeof CATEGORIES;
  /** `error` only for a rule that `load` reports: the gateway does not serve such a manifest, so no setting changes it. */
  readonly severity: Severity;
  /** The smallest preset that contains the rule. */
  readonly preset: Preset;
  /** The reason for the rule, in one sentence. */
  readonly rationale: string;
  /** Yields the findings in a manifest that loads. Absent if another stage reports the rule. */
  readonly find?: (context: LintContext) => Iterable<RuleFinding>;
}

/** A finding before the rule and the settings add its id and severity. */
export type RuleFinding = Omit<Finding, 'rule' | 'severity'>;

type RuleFindingExtras = Omit<RuleFinding, 'location' | 'message'>;

/** Returns a finding about a value. */
export function findingAt(path: Path, message: string, extras: RuleFindingExtras = {}): RuleFinding {
  return { location: { path, at: 'value' }, message, ...extras };
}

export function findingAtKey(path: Path, message: string, extras: RuleFindingExtras = {}): RuleFinding {
  return { location: { path, at: 'key' }, message, ...extras };
}

/** Returns what a finding about a route adds because of another route. @param message names that route: `the protected route` */
export function besideRoute({ path }: LintRoute, message: string, witness?: RouteWitness): RuleFindingExtras {
  return { ...(witness && { witness }), related: { path: [...path, 'path'], message } };
}

/** The severity of a rule, and the smallest preset that contains it. */
type RuleLevel = readonly [Rule['severity'], Rule['preset']];

/** The parts of a manifest that a rule may test one by one, by the name of its test. */
interface Parts {
  readonly route: LintRoute;
  readonly upstream: LintUpstream;
  readonly token: TokenEntry;
  readonly jwt: Extract<TokenEntry, { readonly kind: 'jwt' }>;
  readonly schema: SchemaNode;
}

const PARTS: { readonly [Kind in keyof Parts]: (context: LintContext) => readonly Parts[Kind][] } = {
  route: ({ routes }) => routes,
  upstream: upstreamsOf,
  token: ({ manifest }) => tokenEntries(manifest.auth),
  jwt: ({ manifest }) => tokenEntries(manifest.auth).filter((method) => method.kind === 'jwt'),
  schema: ({ schemas }) => schemas,
};

/** Returns the message about a part that has a finding. */
type PartTest<Part> = (part: Part, context: LintContext) => string | false | undefined;

/** A rule in a table of one category, under its id: with `find`, or with the test of each part of one kind. */
type RuleEntry = Pick<Rule, 'rationale' | 'find'> & {
  readonly level: RuleLevel;
  /** The place of a finding below the path of its part: a value, by default the part itself, or a key. */
  readonly at?: Path;
  readonly atKey?: Path;
} & { readonly [Kind in keyof Parts]?: PartTest<Parts[Kind]> };

export function rulesOf(category: Rule['category'], rules: Readonly<Record<string, RuleEntry>>): Rule[] {
  return Object.entries(rules).map(([id, entry]) => {
    const { rationale, level } = entry;
    const [severity, preset] = level;
    const kind = (Object.keys(PARTS) as (keyof Parts)[]).find((name) => entry[name] !== undefined);
    const find = kind === undefined ? entry.find : findParts(kind, entry);
    return { id, category, severity, preset, rationale, ...(find && { find }) };
  });
}

function findParts<Kind extends keyof Parts>(kind: Kind, { at = [], atKey, ...tests }: RuleEntry) {
  const test = tests[kind] as PartTest<Parts[Kind]>;
  const finding = atKey === undefined ? findingAt : findingAtKey;
  return (context: LintContext): RuleFinding[] =>
    PARTS[kind](context).flatMap((part) => {
      const message = test(part, context);
      return message ? finding([...part.path, ...(atKey ?? at)], message) : [];
    });
}

/** Returns the rules that another stage reports, from the reason of each by its id. */
export function reportedRules(
  category: Rule['category'],
  level: RuleLevel,
  rationales: Readonly<Record<string, string>>,
): Rule[] {
  const entries = Object.entries(rationales).map(([id, rationale]) => [id, { level, rationale }]);
  return rulesOf(category, Object.fromEntries(entries));
}
