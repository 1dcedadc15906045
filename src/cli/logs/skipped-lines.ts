import { type LogCounts, SKIP_REASONS } from '../../candidate/log/log-counts.ts';
import { printable } from '../../problem/printable.ts';

/** Formats a line for each reason why lines were skipped, and for each log that could not be read to its end. */
export function formatSkippedLines({ skipped, failures }: LogCounts): string {
  const reasons = [...skipped].map(([reason, { lines, source, line, member }]) => {
    const cause = member === undefined ? '' : `, in which "${member}" is invalid`;
    return `${SKIP_REASONS[reason]}: ${lines} skipped, the first at ${printable(source)}:${line}${cause}\n`;
  });
  const unread = failures.map(
    ({ source, lines, message }) => `${printable(source)}: ${message} (after line ${lines})\n`,
  );
  return [...reasons, ...unread].join('');
}
