import type { Finding, Path, Severity } from '../problem/finding.ts';
import type { Subject } from './subject.ts';

/** Each has the rules of those before it, and more. */
export const PRESETS = ['minimal', 'recommended', 'strict'] as const;

export type Preset = (typeof PRESETS)[number];

/** In the order in which they are told of. */
export const FAMILIES = {
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
  readonly family: keyof typeof FAMILIES;
  /** An error keeps the manifest from being served: it is found by a stage of `load`, and no setting changes it. */
  readonly severity: Severity;
  /** The smallest preset that has it. */
  readonly preset: Preset;
  /** Why it matters: one sentence. */
  readonly why: string;
  /** What it finds in a manifest that loads. Absent where another stage finds it. */
  readonly find?: (subject: Subject) => Iterable<Advice>;
}

/** What a rule finds: a finding, less what the rule and the settings say. */
export type Advice = Omit<Finding, 'rule' | 'severity'>;

type More = Omit<Advice, 'where' | 'message'>;

/** Advice about a value. */
export function at(path: Path, message: string, more: More = {}): Advice {
  return { where: { path, at: 'value' }, message, ...more };
}

/** Advice about the key that holds a value. */
export function atKey(path: Path, message: string, more: More = {}): Advice {
  return { where: { path, at: 'key' }, message, ...more };
}
