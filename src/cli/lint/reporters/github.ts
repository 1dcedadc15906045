import type { Range, Severity } from '../../../engine/problem/finding.ts';
import { printable } from '../../../engine/problem/printable.ts';
import type { Problem } from '../../../engine/problem/problem.ts';
import { fullMessage, type Reporter } from './lint-report.ts';

const COMMANDS = { error: 'error', warning: 'warning', info: 'notice' } as const satisfies Record<Severity, string>;

/** Formats problems as workflow commands of GitHub Actions, which annotate the lines of a change. */
export const github: Reporter = ({ problems }) => problems.map(toCommand).join('');

function toCommand(problem: Problem): string {
  const properties = Object.entries({ file: problem.file, ...positionOf(problem.range), title: problem.rule });
  const list = properties.map(([name, value]) => `${name}=${escapeProperty(String(value))}`).join(',');
  return `::${COMMANDS[problem.severity]} ${list}::${escapeData(fullMessage(problem))}\n`;
}

/** The runner rejects columns if a problem spans several lines. */
function positionOf({ line, endLine, column, endColumn }: Range): object {
  return line === endLine ? { line, endLine, col: column, endColumn } : { line, endLine };
}

/** Escapes line ends, which would end the command. The runner decodes these escapes. */
function escapeData(text: string): string {
  return printable(text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A'));
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
