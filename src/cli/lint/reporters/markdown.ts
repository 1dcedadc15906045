import { printable } from '../../../engine/problem/printable.ts';
import { groupProblems } from '../../../report/problem-groups.ts';
import { pluralize } from '../../../report/text.ts';
import { countOf, formatLocation, fullMessage, type LintReport, type Reporter, ruleUri } from './lint-report.ts';

/** Formats a table for a job summary or a pull request comment. */
export const markdown: Reporter = (report) => {
  const head = `### Manifest: ${headline(report)}\n`;
  if (report.problems.length === 0) return head;
  const { groups, omitted } = groupProblems(report.problems, report.maxProblems);
  const rows = groups.map(({ first: problem, others }) => {
    const uri = ruleUri(problem.rule, report);
    const name = escapeMarkdown(problem.rule);
    const rule = uri === undefined ? name : `[${name}](${uri})`;
    const message = fullMessage(problem).split('\n').map(escapeMarkdown).join('<br>');
    const location = [formatLocation(problem), others]
      .filter((part) => part !== '')
      .map(escapeMarkdown)
      .join('<br>');
    return `| ${location} | ${problem.severity} | ${message} | ${rule} |\n`;
  });
  return `${head}\n| location | severity | problem | rule |\n| --- | --- | --- | --- |\n${rows.join('')}${omitted === '' ? '' : `\n${escapeMarkdown(omitted)}\n`}`;
};

function headline(report: LintReport): string {
  const counts = (['error', 'warning', 'info'] as const)
    .map((severity) => ({ severity, number: countOf(report, severity) }))
    .filter(({ number }) => number > 0)
    .map(({ severity, number }) => pluralize(number, severity));
  const files = report.sources.map(({ path }) => escapeMarkdown(path)).join(', ');
  return `${counts.join(', ') || 'no problems'} in ${files}`;
}

/** Escapes every character that Markdown may interpret in a table cell. */
function escapeMarkdown(text: string): string {
  return printable(text).replaceAll(/[\\`*_[\]<>#|~&$]/g, '\\$&');
}
