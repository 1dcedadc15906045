import { inlineCode, tableCell } from '../../report/markdown.ts';
import { pluralize } from '../../report/text.ts';
import type { CandidateBody } from './candidate-report.ts';
import { decisionText, entriesOf, failureOf, requestText, shortHash, summaryOf } from './candidate-text.ts';

/** A comment of a pull request has at most 65,536 characters, and a row may have 400. */
const MAX_ROWS = 50;

/** Formats the report as a comment for a pull request. */
export function formatCandidateMarkdown(status: CandidateBody): string {
  const { state, hash, active_hash, since, changed, unknown, skipped } = status;
  if (state === 'none') return '### Candidate: none\n';
  const name = inlineCode(hash === null ? String(status.file) : shortHash(hash));
  const title = `### Candidate ${name}: ${titleOf(status)}\n`;
  const start = since === null ? '' : ` since ${tableCell(String(since))}`;
  const intro = `Compared with the active manifest ${inlineCode(shortHash(active_hash))}${start}. Requests ${summaryOf(status)}.\n`;
  const kinds = countTable('change', entriesOf(changed.kinds));
  const reasons = countTable('not compared', [...entriesOf(unknown.reasons), ...entriesOf(skipped.reasons)]);
  return [title, intro, problemTable(status), kinds, changeTable(status), reasons]
    .filter((part) => part !== '')
    .join('\n');
}

function titleOf({ state, requests, changed }: CandidateBody): string {
  if (state === 'rejected') return 'rejected';
  return `${changed.total} of ${pluralize(requests, 'request')} changed`;
}

function countTable(name: string, counts: readonly (readonly [string, number])[]): string {
  if (counts.length === 0) return '';
  const rows = counts.map(([text, count]) => `| ${tableCell(text)} | ${count} |\n`);
  return `| ${name} | requests |\n|---|--:|\n${rows.join('')}`;
}

function changeTable({ changed: { groups } }: CandidateBody): string {
  if (groups.length === 0) return '';
  const rows = groups.slice(0, MAX_ROWS).map(({ kind, from, to, requests, callers, witness }) => {
    const example = witness === null ? '' : inlineCode(shorten(requestText(witness)));
    return `| ${kind} | ${tableCell(decisionText(from))} | ${tableCell(decisionText(to))} | ${requests} | ${callers} | ${example} |\n`;
  });
  const omitted = groups.length - rows.length;
  const more = omitted <= 0 ? '' : `| | and ${omitted} more | | | | |\n`;
  return `| change | active | candidate | requests | callers | example |\n|---|---|---|--:|--:|---|\n${rows.join('')}${more}`;
}

function problemTable(status: CandidateBody): string {
  const { problems } = status;
  const failure = failureOf(status);
  if (problems.length === 0) return failure === '' ? '' : `${tableCell(failure)}\n`;
  const rows = problems
    .slice(0, MAX_ROWS)
    .map(
      ({ file, line, message, rule }) =>
        `| ${inlineCode(`${file}:${line}`)} | ${tableCell(message)} (${tableCell(rule)}) |\n`,
    );
  return `${tableCell(failure)}\n\n| location | problem |\n|---|---|\n${rows.join('')}`;
}

const MAX_CHARACTERS = 120;

function shorten(text: string): string {
  return text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)}…`;
}
