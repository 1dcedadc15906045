import type { Manifest } from '../manifest/manifest.generated.ts';
import { valueAt } from '../manifest/schema-finding.ts';
import type { Value } from '../manifest/values.ts';
import type { Finding, Severity } from '../problem/finding.ts';
import { type Problem, toProblems } from '../problem/problem.ts';
import { type Directive, directiveFinding, readDirectives } from './directives.ts';
import { ONLINE } from './online.ts';
import { type Advice, PRESETS, type Preset, type Rule } from './rule.ts';
import { createSubject, type Sound } from './subject.ts';
import { RULES } from './table.ts';

/** What `read` makes of a text: a manifest that loads, or what keeps it from loading. */
export type Checked = Sound | (Pick<Sound, 'document' | 'findings'> & { readonly plan: undefined });

export interface LintOptions {
  /** In place of the manifest's. */
  readonly preset?: Preset | undefined;
  /** What was found outside of the manifest, for the same settings and directives. */
  readonly found?: readonly Finding[];
}

/**
 * Everything to tell the author, in reading order: what keeps the manifest from being served or, if nothing does,
 * what the rules advise. Deterministic, and without any look at the network.
 */
export function lint(checked: Checked, { preset, found = [] }: LintOptions = {}): Problem[] {
  const { document, findings } = checked;
  if (checked.plan === undefined) return toProblems(findings, document);
  const { lint: settings } = checked.manifest;
  const severityOf = (rule: Rule) => severityBy({ ...settings, preset: preset ?? settings.preset }, rule);
  const active = new Map(RULES.map((rule) => [rule.id, severityOf(rule)]));
  const subject = createSubject(checked);
  const advice = RULES.flatMap((rule) => (active.get(rule.id) === 'off' ? [] : adviceOf(rule, subject)));
  const written = readDirectives(document, RULES);
  const { heard, unused } = silence([...advice, ...found], written.directives, checked);
  // What was asked outside of the manifest may be otherwise the next time.
  const isRun = (id: string) => active.get(id) !== 'off' && !ONLINE.some((rule) => rule.id === id);
  const told = [...heard, ...written.findings, ...unusedFindings(unused, isRun)].flatMap((finding) => {
    const severity = active.get(finding.rule);
    return severity === undefined || severity === 'off' ? [] : [{ ...finding, severity }];
  });
  return toProblems([...findings, ...told], document);
}

type Settings = Manifest['lint'];

/** What the manifest says of a rule, or else whether its preset has it. */
function severityBy({ preset, rules }: Settings, rule: Rule): Severity | 'off' {
  const isIn = PRESETS.indexOf(rule.preset) <= PRESETS.indexOf(preset);
  return rules[rule.id] ?? (isIn ? rule.severity : 'off');
}

function adviceOf({ id, severity, find }: Rule, subject: ReturnType<typeof createSubject>): Finding[] {
  return [...(find?.(subject) ?? [])].map((advice) => {
    const message = withoutSecret(advice, subject);
    return { ...advice, message, rule: id, severity };
  });
}

/** A rule may quote a value, of its own place or of another: a value from the environment is shown as it is written. */
function withoutSecret({ where, message }: Advice, { manifest, secrets }: Sound): string {
  const value = 'path' in where ? valueAt(manifest as unknown as Value, where.path) : null;
  if (!('path' in where) || typeof value !== 'string' || !secrets.isSecret(where.path)) return secrets.redact(message);
  return secrets.redact(message.replaceAll(`"${value}"`, () => `"${secrets.shown(value, where.path)}"`));
}

interface Unused {
  readonly directive: Directive;
  readonly rule: string;
}

/** Parts what is heard from what directives silence, and tells which of them silenced nothing. */
function silence(findings: readonly Finding[], directives: readonly Directive[], { document }: Checked) {
  if (directives.length === 0) return { heard: findings, unused: [] };
  const byLine = new Map<string, Unused>();
  for (const directive of directives)
    for (const rule of directive.rules) byLine.set(`${directive.file}:${directive.line} ${rule}`, { directive, rule });
  const used = new Set<string>();
  const heard = findings.filter(({ rule, where }) => {
    const place = `${document.fileOf(where)}:${document.locate(where).line} ${rule}`;
    if (byLine.has(place)) used.add(place);
    return !byLine.has(place);
  });
  return { heard, unused: [...byLine].filter(([place]) => !used.has(place)).map(([, unused]) => unused) };
}

/** Of a rule that did not run nothing is known. */
function unusedFindings(unused: readonly Unused[], isRun: (id: string) => boolean): Finding[] {
  return unused
    .filter(({ rule }) => isRun(rule))
    .map(({ directive, rule }) =>
      directiveFinding('directive-unused', directive, `"${rule}" finds nothing on the next line; remove it here`),
    );
}
