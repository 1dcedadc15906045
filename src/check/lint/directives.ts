import type { Document } from '../../engine/manifest/document.ts';
import type { YamlComment } from '../../engine/manifest/yaml-text.ts';
import { suggestion } from '../../engine/problem/did-you-mean.ts';
import type { Finding } from '../../engine/problem/finding.ts';
import { type Rule, reportedRules } from './rule.ts';

export const DIRECTIVE_RULES: readonly Rule[] = [
  ...reportedRules('directives', ['warning', 'minimal'], {
    'directive-malformed': 'A malformed directive disables nothing, although readers believe that it does.',
    'directive-without-reason': 'Without a reason nobody can verify that the directive is still justified.',
    'directive-unknown-rule': 'A directive for an unknown rule has no effect, and a directive cannot disable an error.',
  }),
  ...reportedRules('directives', ['warning', 'recommended'], {
    'directive-unused': 'The problem no longer exists, so the directive would only hide the next one.',
  }),
];

/** A comment that disables rules on the next line that is neither empty nor a comment. */
export interface Directive {
  readonly comment: YamlComment;
  readonly file: string;
  readonly rules: readonly string[];
  /** The line on which the rules are disabled; 0 if there is none. */
  readonly targetLine: number;
}

const SYNTAX = /^#\s*gateway-disable-next-line\s+(?<rules>[\w-]+(?:\s*,\s*[\w-]+)*)\s*(?:--\s*(?<reason>.*))?$/;
const USAGE = 'write # gateway-disable-next-line RULE -- reason';

/** Reads the directives of a manifest and of its included files. `table` has all rules. */
export function readDirectives(document: Document, table: readonly Rule[]) {
  const directives: Directive[] = [];
  const findings: Finding[] = [];
  // `comments` tokenizes the file again, so skip files without directives.
  for (const part of [document, ...document.included].filter(({ text }) => text.includes('gateway-disable')))
    for (const comment of part.comments()) {
      if (!/^#\s*gateway-disable/.test(comment.text)) continue;
      const { file } = part;
      const rules = readDirective({ comment, file }, table, findings);
      if (rules.length > 0) directives.push({ comment, file, rules, targetLine: nextLine(part, comment) });
    }
  return { directives, findings };
}

/** Returns the rules that a comment disables, and adds the errors of the comment to `findings`. */
function readDirective(location: DirectiveLocation, table: readonly Rule[], findings: Finding[]): string[] {
  const { rules, reason } = SYNTAX.exec(location.comment.text.trimEnd())?.groups ?? {};
  const report = (rule: string, message: string) => findings.push(directiveFinding(rule, location, message));
  if (rules === undefined) {
    report('directive-malformed', `this comment disables no rule; ${USAGE}`);
    return [];
  }
  if (reason === undefined || reason.trim() === '') {
    report('directive-without-reason', `a directive without a reason disables no rule; ${USAGE}`);
    return [];
  }
  return rules.split(/\s*,\s*/).filter((id) => {
    const rule = table.find((candidate) => candidate.id === id);
    if (rule === undefined) {
      const ids = table.filter(({ severity }) => severity !== 'error').map((other) => other.id);
      report('directive-unknown-rule', `unknown rule "${id}"${suggestion(id, ids)}`);
    } else if (rule.severity === 'error') {
      report('directive-unknown-rule', `"${id}" is an error, and a directive cannot disable an error; fix the error`);
    }
    return rule !== undefined && rule.severity !== 'error';
  });
}

type DirectiveLocation = Pick<Directive, 'comment' | 'file'>;

export function directiveFinding(rule: string, { comment, file }: DirectiveLocation, message: string): Finding {
  const { start, text } = comment;
  return { rule, severity: 'warning', location: { start, end: start + text.length, file }, message };
}

function nextLine({ text, file, locate }: Document, { start }: YamlComment): number {
  const { line } = locate({ start, end: start, file });
  const following = text.slice(start).split('\n').slice(1);
  const distance = following.findIndex((other) => !/^\s*(?:#|$)/.test(other));
  return distance === -1 ? 0 : line + 1 + distance;
}
