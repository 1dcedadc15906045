import type { Range, Severity } from '../engine/problem/finding.ts';
import { printable } from '../engine/problem/printable.ts';
import { fullMessage, type ReportRow, toJson } from './report.ts';

const COMMANDS = { error: 'error', warning: 'warning', info: 'notice' } as const satisfies Record<Severity, string>;

/** Formats rows as workflow commands of GitHub Actions, which annotate the lines of a change. */
export function formatGithub(rows: readonly ReportRow[]): string {
  return rows.map(toCommand).join('');
}

function toCommand(row: ReportRow): string {
  const properties = Object.entries({ file: row.file, ...positionOf(row.range), title: row.rule });
  const list = properties.map(([name, value]) => `${name}=${escapeProperty(String(value))}`).join(',');
  return `::${COMMANDS[row.severity]} ${list}::${escapeData(fullMessage(row))}\n`;
}

/** The runner rejects columns if a row spans several lines. */
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

/** An error is critical because the gateway does not serve the manifest. */
const DEGREES = { error: 'critical', warning: 'minor', info: 'info' } as const satisfies Record<Severity, string>;

/** Formats a Code Quality report for GitLab CI/CD, which needs the fingerprints. */
export function formatGitlab(rows: readonly ReportRow[]): string {
  return toJson(
    rows.map((row) => ({
      description: fullMessage(row),
      check_name: row.rule,
      fingerprint: row.fingerprint,
      severity: DEGREES[row.severity],
      location: { path: row.file, lines: { begin: row.range.line, end: row.range.endLine } },
    })),
  );
}
