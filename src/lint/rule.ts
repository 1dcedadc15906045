import type { Finding, Path, Severity } from '../problem/finding.ts';
import type { LintContext } from './lint-context.ts';

/** Each has the rules of those before it, and more. */
export const PRESETS = ['minimal', 'recommended', 'strict'] as const;

export type Preset = (typeof PRESETS)[number];

/** In the order in which they are told of. */
export const CATEGORIES = {
  manifest: 'The manifest',
  routes: 'Routes',
  auth: 'Tokens, roles and logins',
  validation: 'Validation',
  upstreams: 'Upstreams',
  operations: 'Operations',
  secrets: 'Secrets in the file',
  directives: 'Directives',
  online: 'Asked with --online',
} as const;

/** One thing that `lint` tells of. */
export interface Rule {
  /** Kebab-case, stable across versions. */
  readonly id: string;
  readonly category: keyof typeof CATEGORIES;
  /** An error keeps the manifest from being served: it is found by a stage of `load`, and no setting changes it. */
  readonly severity: Severity;
  /** The smallest preset that has it. */
  readonly preset: Preset;
  /** Why it matters: one sentence. */
  readonly rationale: string;
  /** What it finds in a manifest that loads. Absent where another stage finds it. */
  readonly find?: (subject: LintContext) => Iterable<RuleFinding>;
}

/** What a rule finds: a finding, less what the rule and the settings say. */
export type RuleFinding = Omit<Finding, 'rule' | 'severity'>;

type RuleFindingExtras = Omit<RuleFinding, 'location' | 'message'>;

/** Advice about a value. */
export function findingAt(path: Path, message: string, more: RuleFindingExtras = {}): RuleFinding {
  return { location: { path, at: 'value' }, message, ...more };
}

/** Advice about the key that holds a value. */
export function findingAtKey(path: Path, message: string, more: RuleFindingExtras = {}): RuleFinding {
  return { location: { path, at: 'key' }, message, ...more };
}
