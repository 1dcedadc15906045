import { valueAt } from '../../engine/json-pointer.ts';
import type { Manifest } from '../../engine/manifest/manifest.generated.ts';
import type { Finding, Severity } from '../../engine/problem/finding.ts';
import { type Problem, toProblems } from '../../engine/problem/problem.ts';
import { type Directive, directiveFinding, readDirectives } from './directives.ts';
import { createLintContext, type LintContext, type ValidManifest } from './lint-context.ts';
import { ONLINE_RULES } from './online-checks.ts';
import { PRESETS, type Preset, type Rule, type RuleFinding } from './rule.ts';
import { RULES } from './rule-table.ts';

/** The result of checking a text: a manifest that loads, or the findings that prevent it. */
export type LintInput = ValidManifest | (Pick<ValidManifest, 'document' | 'findings'> & { readonly plan: undefined });

export interface LintOptions {
  /** Overrides the preset of the manifest. */
  readonly preset?: Preset | undefined;
  /** Findings of the online checks. The settings and directives of the manifest apply to them too. */
  readonly extraFindings?: readonly Finding[];
  /** The date or time for rules about dates and certificates, in UTC; by default the current time. */
  readonly today?: string;
}

/** Returns the problems of a manifest in text order: its errors or else the findings of the rules. Deterministic for a time. */
export function lint(
  input: LintInput,
  { preset, extraFindings = [], today = new Date().toISOString() }: LintOptions = {},
): Problem[] {
  const { document, findings } = input;
  if (input.plan === undefined) return toProblems(findings, document);
  const { lint: settings } = input.manifest;
  const severityOf = (rule: Rule) => effectiveSeverity({ ...settings, preset: preset ?? settings.preset }, rule);
  const severities = new Map(RULES.map((rule) => [rule.id, severityOf(rule)]));
  const context = createLintContext(input, today);
  const ruleFindings = RULES.flatMap((rule) => (severities.get(rule.id) === 'off' ? [] : runRule(rule, context)));
  const parsed = readDirectives(document, RULES);
  const { remaining, unused } = applyDirectives([...ruleFindings, ...extraFindings], parsed.directives, input);
  // Another run may need the directives of rules that did not run. The result of an online rule may differ in the next run.
  const isRun = (id: string) => severities.get(id) !== 'off' && !ONLINE_RULES.some((rule) => rule.id === id);
  const unusedFindings = unused.filter(({ rule }) => isRun(rule)).map(unusedFinding);
  const active = [...remaining, ...parsed.findings, ...unusedFindings].flatMap((finding) => {
    const severity = severities.get(finding.rule);
    return severity === undefined || severity === 'off' ? [] : [{ ...finding, severity }];
  });
  return toProblems([...findings, ...active], document);
}

type LintSettings = Manifest['lint'];

function effectiveSeverity({ preset, rules }: LintSettings, rule: Rule): Severity | 'off' {
  const isInPreset = PRESETS.indexOf(rule.preset) <= PRESETS.indexOf(preset);
  return rules[rule.id] ?? (isInPreset ? rule.severity : 'off');
}

function runRule({ id, severity, find }: Rule, context: LintContext): Finding[] {
  return [...(find?.(context) ?? [])].map((finding) => ({
    ...finding,
    message: redactMessage(finding, context),
    rule: id,
    severity,
  }));
}

/** Replaces each quoted value that comes from the environment by its reference in the manifest. */
function redactMessage({ location, message }: RuleFinding, { manifest, secrets }: ValidManifest): string {
  const value = 'path' in location ? valueAt(manifest, location.path) : undefined;
  if (!('path' in location) || typeof value !== 'string' || !secrets.isSecret(location.path))
    return secrets.redactText(message);
  return secrets.redactText(message.replaceAll(`"${value}"`, () => `"${secrets.redactValue(value, location.path)}"`));
}

interface DisabledRule {
  readonly directive: Directive;
  readonly rule: string;
}

/** Removes the findings that directives disable, and returns the directives that matched no finding. */
function applyDirectives(findings: readonly Finding[], directives: readonly Directive[], { document }: LintInput) {
  if (directives.length === 0) return { remaining: findings, unused: [] };
  const byLine = new Map<string, DisabledRule>();
  for (const directive of directives)
    for (const rule of directive.rules)
      byLine.set(`${directive.file}:${directive.targetLine} ${rule}`, { directive, rule });
  const used = new Set<string>();
  const remaining = findings.filter(({ rule, location }) => {
    const key = `${document.fileOf(location)}:${document.locate(location).line} ${rule}`;
    if (byLine.has(key)) used.add(key);
    return !byLine.has(key);
  });
  return { remaining, unused: [...byLine].filter(([key]) => !used.has(key)).map(([, unused]) => unused) };
}

function unusedFinding({ directive, rule }: DisabledRule): Finding {
  const message = `"${rule}" finds nothing on the next line; remove it from this comment`;
  return directiveFinding('directive-unused', directive, message);
}
