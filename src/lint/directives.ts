import type { Document } from '../manifest/document.ts';
import type { YamlComment } from '../manifest/yaml-tokens.ts';
import { suggestion } from '../problem/did-you-mean.ts';
import type { Finding } from '../problem/finding.ts';
import type { Rule } from './rule.ts';

const ANY = { category: 'directives', severity: 'warning', preset: 'minimal' } as const;

/** What is told of the comments by which advice is silenced. */
export const DIRECTIVE_RULES: readonly Rule[] = [
  {
    ...ANY,
    id: 'directive-malformed',
    rationale: 'A comment that was meant to silence a rule and does not is believed to.',
  },
  {
    ...ANY,
    id: 'directive-without-reason',
    rationale: 'Without a reason nobody can tell whether what was silenced is still right to be.',
  },
  {
    ...ANY,
    id: 'directive-unknown-rule',
    rationale: 'It silences nothing, and errors are never silenced: a manifest that has one is not served.',
  },
  {
    ...ANY,
    id: 'directive-unused',
    preset: 'recommended',
    rationale: 'What it silenced is gone; the next thing of its kind would come in unseen.',
  },
];

/** A comment that silences rules on the next line that is neither empty nor a comment. */
export interface Directive {
  readonly comment: YamlComment;
  readonly file: string;
  readonly rules: readonly string[];
  /** The line that it is about. */
  readonly targetLine: number;
}

export interface ParsedDirectives {
  readonly directives: readonly Directive[];
  readonly findings: readonly Finding[];
}

const MARK = 'gateway-disable';
const FORM = /^#\s*gateway-disable-next-line\s+(?<rules>[\w-]+(?:\s*,\s*[\w-]+)*)\s*(?:--\s*(?<reason>.*))?$/;
const HOW = 'write # gateway-disable-next-line RULE -- reason';

/**
 * Those of a manifest and of what it includes.
 *
 * @param table by which the ids of rules are known
 */
export function readDirectives(document: Document, table: readonly Rule[]): ParsedDirectives {
  const all = [document, ...document.included].map((one) => readFileDirectives(one, table));
  return {
    directives: all.flatMap(({ directives }) => directives),
    findings: all.flatMap(({ findings }) => findings),
  };
}

function readFileDirectives(document: Document, table: readonly Rule[]): ParsedDirectives {
  const { file, text } = document;
  const directives: Directive[] = [];
  const findings: Finding[] = [];
  // To find the comments, all of the text is read again.
  const comments = text.includes(MARK) ? document.comments() : [];
  for (const comment of comments) {
    if (!/^#\s*gateway-disable/.test(comment.text)) continue;
    const rules = readDirective({ comment, file }, table, findings);
    if (rules.length > 0) directives.push({ comment, file, rules, targetLine: nextLine(document, comment) });
  }
  return { directives, findings };
}

/** The rules that a comment silences; what is wrong with it goes to `findings`. */
function readDirective(place: DirectiveLocation, table: readonly Rule[], findings: Finding[]): string[] {
  const { rules, reason } = FORM.exec(place.comment.text.trimEnd())?.groups ?? {};
  const tell = (rule: string, message: string) => findings.push(directiveFinding(rule, place, message));
  if (rules === undefined) {
    tell('directive-malformed', `this silences nothing; ${HOW}`);
    return [];
  }
  if (reason === undefined || reason.trim() === '') {
    tell('directive-without-reason', `why this is silenced is not said, so it is not; ${HOW}`);
    return [];
  }
  return rules.split(/\s*,\s*/).filter((id) => {
    const rule = table.find((known) => known.id === id);
    if (rule === undefined) {
      const known = table.filter(({ severity }) => severity !== 'error').map((one) => one.id);
      tell('directive-unknown-rule', `there is no rule "${id}"${suggestion(id, known)}`);
    } else if (rule.severity === 'error') {
      tell('directive-unknown-rule', `"${id}" is an error, and errors are not silenced; mend it`);
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
  const rest = text.slice(start).split('\n').slice(1);
  const distance = rest.findIndex((other) => !/^\s*(?:#|$)/.test(other));
  return distance === -1 ? 0 : line + 1 + distance;
}
