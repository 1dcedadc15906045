import { formatMarkdown, inlineCode, markdownTable, tableCell } from '../../report/markdown.ts';
import { entriesOf, type Facts, type TextRow, toJson } from '../../report/report.ts';
import { formatText, pluralize } from '../../report/text.ts';
import { changeRow, changeTable, countTable, MAX_CHANGES, omittedText, reasonsText } from '../change-formats.ts';
import { type CandidateBody, hasSavedProblem } from './admin-client.ts';

type ChangeEntry = CandidateBody['changed']['groups'][number];

/** The formats of a report. JSON is that of the admin API. */
export const CANDIDATE_FORMATS = {
  pretty: formatCandidateText,
  json: (status: CandidateBody) => toJson(status),
  markdown: formatCandidateMarkdown,
} as const;

const NAMES = ['active', 'candidate'] as const;

/** Formats the report for a person, the most severe changes first. */
function formatCandidateText(status: CandidateBody, colour: boolean): string {
  const { state, source, file, hash, since, active_hash, sample, problems, changed } = status;
  if (state === 'none') return 'no candidate\n';
  const name = [source === 'file' ? file : null, shortHash(hash)].filter(Boolean).join(' ');
  const share = sample === 1 ? '' : `, ${100 * sample} % of the requests`;
  const [failure, reasons] = [failureOf(status), reasonsOf(status)];
  const facts: Facts = [
    ['candidate', `${name}, ${state}${since === null ? '' : ` since ${since}`}`],
    ['compared', `with the active manifest ${shortHash(active_hash)}${share}`],
    ['requests', summaryOf(status)],
    ...(failure === '' ? [] : [['problem', failure] as const]),
    ...(reasons.length === 0 ? [] : [['reasons', reasonsText(reasons)] as const]),
  ];
  const rows = changed.groups.slice(0, MAX_CHANGES).map((change) => {
    const { witness } = change;
    const text = witness === null ? '' : `${requestText(witness)}, request ${witness.id}`;
    return changeRow(change, NAMES, text === '' ? [] : [['example', text]]);
  });
  return formatText(facts, [...problems.map(problemRow), ...rows], omittedText(changed.groups), colour);
}

/** Returns a problem of a candidate as `lint` prints it. */
export function problemRow(problem: CandidateBody['problems'][number]): TextRow {
  const { line, column, frame, count, ...row } = problem;
  const equal = count === 1 ? [] : [`and ${pluralize(count - 1, 'equal problem')}`];
  const facts = [...frame.split('\n'), ...equal].map((text) => ['', text] as const);
  return { ...row, range: { line, column }, facts };
}

/** Formats the report as a comment for a pull request. */
function formatCandidateMarkdown(status: CandidateBody): string {
  const { state, file, hash, active_hash, since, requests, changed, problems } = status;
  if (state === 'none') return formatMarkdown('Candidate: none');
  const name = inlineCode(hash === null ? String(file) : shortHash(hash));
  const result = state === 'rejected' ? 'rejected' : `${changed.total} of ${pluralize(requests, 'request')} changed`;
  const start = since === null ? '' : ` since ${tableCell(String(since))}`;
  const failure = failureOf(status);
  const columns = {
    location: ({ file, line }: (typeof problems)[number]) => inlineCode(`${file}:${line}`),
    problem: ({ message, rule }: (typeof problems)[number]) => `${tableCell(message)} (${tableCell(rule)})`,
  };
  const example = ({ witness }: ChangeEntry) => (witness === null ? '' : inlineCode(shorten(requestText(witness))));
  return formatMarkdown(
    `Candidate ${name}: ${result}`,
    `Compared with the active manifest ${inlineCode(shortHash(active_hash))}${start}. Requests ${summaryOf(status)}.\n`,
    failure === '' ? '' : `${tableCell(failure)}\n`,
    markdownTable(problems.slice(0, MAX_PROBLEMS), columns),
    countTable('change', entriesOf(changed.kinds)),
    changeTable(changed.groups, NAMES, { example }),
    countTable('not compared', reasonsOf(status)),
  );
}

/** A comment of a pull request has at most 65,536 characters. */
const MAX_PROBLEMS = 50;
const MAX_CHARACTERS = 120;

function shorten(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`;
}

/** Returns why the saved file of `--candidate` is not compared; empty if it is. */
function failureOf(status: CandidateBody): string {
  const { reason, problem_count } = status;
  if (!hasSavedProblem(status)) return '';
  const cause = reason === null ? `it has ${pluralize(problem_count, 'problem')}` : `it cannot be read: ${reason}`;
  return `the saved file is not compared: ${cause}`;
}

/** Returns why requests were not compared. */
function reasonsOf({ unknown, skipped }: CandidateBody): [string, number][] {
  return [...entriesOf(unknown.reasons), ...entriesOf(skipped.reasons)];
}

/** Returns the first request of a change: `GET /api/contacts`. The method and the path of a malformed request are not known. */
function requestText({ method, path }: NonNullable<ChangeEntry['witness']>): string {
  return `${method ?? '(no method)'} ${path ?? '(no path)'}`;
}

/** Returns the counts in one line: `1000: 990 same, 8 changed, 2 unknown`. */
function summaryOf({ requests, same, changed, unknown, skipped, errors }: CandidateBody): string {
  const rest = [
    [skipped.total, 'not compared'],
    [errors, errors === 1 ? 'error' : 'errors'],
  ].filter(([count]) => count !== 0);
  const counts = [[same, 'same'], [changed.total, 'changed'], [unknown.total, 'unknown'], ...rest];
  return `${requests}: ${counts.map(([count, name]) => `${count} ${name}`).join(', ')}`;
}

function shortHash(hash: string | null): string {
  return hash?.slice(0, 12) ?? '';
}
