import { printable } from '../../../problem/printable.ts';
import { pluralize } from '../../format.ts';
import { countOf, formatLocation, fullMessage, type LintReport, type Reporter, ruleUri } from './lint-report.ts';

/** A table for the summary of a job, or for a comment on a change. */
export const markdown: Reporter = (report) => {
  const head = `### Manifest: ${headline(report)}\n`;
  if (report.problems.length === 0) return head;
  const rows = report.problems.map((problem) => {
    const rule = `[${escapeMarkdown(problem.rule)}](${ruleUri(problem.rule)})`;
    const told = fullMessage(problem).split('\n').map(escapeMarkdown).join('<br>');
    return `| ${escapeMarkdown(formatLocation(problem))} | ${problem.severity} | ${told} | ${rule} |\n`;
  });
  return `${head}\n| place | severity | problem | rule |\n| --- | --- | --- | --- |\n${rows.join('')}`;
};

function headline(report: LintReport): string {
  const told = (['error', 'warning', 'info'] as const)
    .map((severity) => ({ severity, number: countOf(report, severity) }))
    .filter(({ number }) => number > 0)
    .map(({ severity, number }) => pluralize(number, severity));
  const files = report.sources.map(({ path }) => escapeMarkdown(path)).join(', ');
  return `${told.join(', ') || 'no problems'} in ${files}`;
}

/** Text as it is, in one cell: a backslash takes the meaning from every character that may have one. */
function escapeMarkdown(text: string): string {
  return printable(text).replaceAll(/[\\`*_[\]<>#|~&$]/g, '\\$&');
}
