import type { Manifest } from '../manifest/manifest.generated.ts';
import { valueAt } from '../manifest/schema-finding.ts';
import type { YamlValue } from '../manifest/yaml-values.ts';
import type { Finding, Severity } from '../problem/finding.ts';
import { type Problem, toProblems } from '../problem/problem.ts';
import { type Directive, directiveFinding, readDirectives } from './directives.ts';
import { createLintContext, type ValidManifest } from './lint-context.ts';
import { ONLINE_RULES } from './online-checks.ts';
import { PRESETS, type Preset, type Rule, type RuleFinding } from './rule.ts';
import { RULES } from './rule-table.ts';

/** What `read` makes of a text: a manifest that loads, or what keeps it from loading. */
export type LintInput = ValidManifest | (Pick<ValidManifest, 'document' | 'findings'> & { readonly plan: undefined });

export interface LintOptions {
  /** In place of the manifest's. */
  readonly preset?: Preset | undefined;
  /** What was found outside of the manifest, for the same settings and directives. */
  readonly extraFindings?: readonly Finding[];
}

/**
 * Everything to tell the author, in reading order: what keeps the manifest from being served or, if nothing does,
 * what the rules advise. Deterministic, and without any look at the network.
 */
export function lint(checked: LintInput, { preset, extraFindings = [] }: LintOptions = {}): Problem[] {
  const { document, findings } = checked;
  if (checked.plan === undefined) return toProblems(findings, document);
  const { lint: settings } = checked.manifest;
  const severityOf = (rule: Rule) => effectiveSeverity({ ...settings, preset: preset ?? settings.preset }, rule);
  const active = new Map(RULES.map((rule) => [rule.id, severityOf(rule)]));
  const subject = createLintContext(checked);
  const advice = RULES.flatMap((rule) => (active.get(rule.id) === 'off' ? [] : runRule(rule, subject)));
  const written = readDirectives(document, RULES);
  const { heard, unused } = applyDirectives([...advice, ...extraFindings], written.directives, checked);
  // What was asked outside of the manifest may be otherwise the next time.
  const isRun = (id: string) => active.get(id) !== 'off' && !ONLINE_RULES.some((rule) => rule.id === id);
  const told = [...heard, ...written.findings, ...unusedDirectiveFindings(unused, isRun)].flatMap((finding) => {
    const severity = active.get(finding.rule);
    return severity === undefined || severity === 'off' ? [] : [{ ...finding, severity }];
  });
  return toProblems([...findings, ...told], document);
}

type LintSettings = Manifest['lint'];

/** What the manifest says of a rule, or else whether its preset has it. */
function effectiveSeverity({ preset, rules }: LintSettings, rule: Rule): Severity | 'off' {
  const isIn = PRESETS.indexOf(rule.preset) <= PRESETS.indexOf(preset);
  return rules[rule.id] ?? (isIn ? rule.severity : 'off');
}

function runRule({ id, severity, find }: Rule, subject: ReturnType<typeof createLintContext>): Finding[] {
  return [...(find?.(subject) ?? [])].map((advice) => {
    const message = redactMessage(advice, subject);
    return { ...advice, message, rule: id, severity };
  });
}

/** A rule may quote a value, of its own place or of another: a value from the environment is shown as it is written. */
function redactMessage({ location, message }: RuleFinding, { manifest, secrets }: ValidManifest): string {
  const value = 'path' in location ? valueAt(manifest as unknown as YamlValue, location.path) : null;
  if (!('path' in location) || typeof value !== 'string' || !secrets.isSecret(location.path))
    return secrets.redactText(message);
  return secrets.redactText(message.replaceAll(`"${value}"`, () => `"${secrets.redactValue(value, location.path)}"`));
}

interface UnusedDirective {
  readonly directive: Directive;
  readonly rule: string;
}

/** Parts what is heard from what directives silence, and tells which of them silenced nothing. */
function applyDirectives(findings: readonly Finding[], directives: readonly Directive[], { document }: LintInput) {
  if (directives.length === 0) return { heard: findings, unused: [] };
  const byLine = new Map<string, UnusedDirective>();
  for (const directive of directives)
    for (const rule of directive.rules)
      byLine.set(`${directive.file}:${directive.targetLine} ${rule}`, { directive, rule });
  const used = new Set<string>();
  const heard = findings.filter(({ rule, location }) => {
    const place = `${document.fileOf(location)}:${document.locate(location).line} ${rule}`;
    if (byLine.has(place)) used.add(place);
    return !byLine.has(place);
  });
  return { heard, unused: [...byLine].filter(([place]) => !used.has(place)).map(([, unused]) => unused) };
}

/** Of a rule that did not run nothing is known. */
function unusedDirectiveFindings(unused: readonly UnusedDirective[], isRun: (id: string) => boolean): Finding[] {
  return unused
    .filter(({ rule }) => isRun(rule))
    .map(({ directive, rule }) =>
      directiveFinding('directive-unused', directive, `"${rule}" finds nothing on the next line; remove it here`),
    );
}
