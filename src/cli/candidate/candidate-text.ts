import { printable } from '../../engine/problem/printable.ts';
import { paint, pluralize, STYLES } from '../../report/text.ts';
import { MAX_CALLERS } from '../../traffic/comparison.ts';
import { type CandidateBody, hasSavedProblem } from './candidate-report.ts';

type ChangeEntry = CandidateBody['changed']['groups'][number];
type DecisionEntry = ChangeEntry['from'];
type ProblemEntry = CandidateBody['problems'][number];

/** The changes that a person reads. The JSON format has all of them. */
const MAX_CHANGES = 50;

/** Formats the report for a person, the most severe changes first. */
export function formatCandidateText(status: CandidateBody, colour: boolean): string {
  if (status.state === 'none') return 'no candidate\n';
  const { groups } = status.changed;
  const changes = groups.slice(0, MAX_CHANGES).map((change) => formatChange(change, colour));
  const omitted = groups.length - changes.length;
  const more = omitted <= 0 ? [] : [`and ${omitted} more kinds of changes; use -f json`];
  const problems = status.problems.length === 0 ? [] : [formatProblemReports(status.problems, colour).trimEnd()];
  return `${[headOf(status, colour), ...problems, ...changes, ...more].map((part) => `${part}\n`).join('\n')}`;
}

function headOf(status: CandidateBody, colour: boolean): string {
  const { state, source, file, since, active_hash, sample, unknown, skipped } = status;
  const name = [source === 'file' ? file : null, shortHash(status.hash)].filter(Boolean).join(' ');
  const failure = failureOf(status);
  const share = sample === 1 ? '' : `, ${100 * sample} % of the requests`;
  const reasons = [...entriesOf(unknown.reasons), ...entriesOf(skipped.reasons)];
  const lines = [
    ['candidate', `${name}, ${state}${since === null ? '' : ` since ${since}`}`],
    ['compared', `with the active manifest ${shortHash(active_hash)}${share}`],
    ['requests', summaryOf(status)],
    ...(failure === '' ? [] : [['problem', failure]]),
    ...(reasons.length === 0 ? [] : [['reasons', reasons.map(([reason, count]) => `${reason} ${count}`).join(', ')]]),
  ];
  return lines.map(([key = '', text = '']) => `${paint(key.padEnd(10), 'dim', colour)} ${printable(text)}`).join('\n');
}

/** Returns why the saved file of `--candidate` is not compared; empty if it is. */
export function failureOf(status: CandidateBody): string {
  const { reason, problem_count } = status;
  if (!hasSavedProblem(status)) return '';
  const cause = reason === null ? `it has ${pluralize(problem_count, 'problem')}` : `it cannot be read: ${reason}`;
  return `the saved file is not compared: ${cause}`;
}

function formatChange({ kind, from, to, requests, callers, witness }: ChangeEntry, colour: boolean): string {
  const style = STYLES[kind === 'newly-refused' || kind === 'newly-allowed' ? 'error' : 'warning'];
  const example = witness === null ? [] : [['example', `${requestText(witness)}, request ${witness.id}`]];
  const lines = [['active', decisionText(from)], ['candidate', decisionText(to)], ...example];
  const rows = lines.map(([key = '', text = '']) => `  ${paint(key.padEnd(10), 'dim', colour)} ${printable(text)}`);
  return [`${paint(kind, style, colour)} ${pluralize(requests, 'request')} of ${callersText(callers)}`, ...rows].join(
    '\n',
  );
}

/** Returns the first request of a change: `GET /api/contacts`. The method and the path of a malformed request are not known. */
export function requestText({ method, path }: NonNullable<ChangeEntry['witness']>): string {
  return `${method ?? '(no method)'} ${path ?? '(no path)'}`;
}

/** Returns the number of callers, of which a group counts a limited number. */
export function callersText(callers: number): string {
  return callers < MAX_CALLERS ? pluralize(callers, 'caller') : `at least ${pluralize(callers, 'caller')}`;
}

/** Returns a decision in words: `forwarded to contacts by contact-list`. */
export function decisionText({ outcome, route, upstream, status, refusal, reason }: DecisionEntry): string {
  if (outcome === 'forwarded') return `forwarded to ${upstream} by ${route}`;
  const by = route === null ? 'without a route' : `by ${route}`;
  const code = [status, refusal, reason === refusal ? null : reason].filter((part) => part !== null).join(' ');
  return `${outcome} ${by}: ${code}`;
}

/** Formats the problems of a candidate for a person, as `lint` does. */
export function formatProblemReports(problems: readonly ProblemEntry[], colour: boolean): string {
  return problems
    .map(({ file, line, column, severity, message, rule, frame, count }) => {
      const place = paint(printable(`${file}:${line}:${column}`), 'bold', colour);
      const head = `${place} ${paint(severity, STYLES[severity], colour)} ${printable(message)} ${paint(`[${printable(rule)}]`, 'dim', colour)}`;
      const more = count === 1 ? '' : `  and ${pluralize(count - 1, 'equal problem')}\n`;
      const lines = frame.split('\n').map((text) => `  ${printable(text)}\n`);
      return `${head}\n${lines.join('')}${more}`;
    })
    .join('\n');
}

/** Returns the counts in one line: `1000: 990 same, 8 changed, 2 unknown`. */
export function summaryOf({ requests, same, changed, unknown, skipped, errors }: CandidateBody): string {
  const rest = [
    [skipped.total, 'not compared'],
    [errors, errors === 1 ? 'error' : 'errors'],
  ].filter(([count]) => count !== 0);
  const counts = [[same, 'same'], [changed.total, 'changed'], [unknown.total, 'unknown'], ...rest];
  return `${requests}: ${counts.map(([count, name]) => `${count} ${name}`).join(', ')}`;
}

/** Returns the counts above 0, the highest first. */
export function entriesOf(counts: Readonly<Record<string, number>>): [string, number][] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort(([, one], [, other]) => other - one);
}

export function shortHash(hash: string | null): string {
  return hash?.slice(0, 12) ?? '';
}
