import { printable } from '../../engine/problem/problem.ts';
import { type LogCounts, SKIP_REASONS, type SkippedLineReason } from '../../traffic/access-log/log-counts.ts';

/** Every log of a gateway has lines for these reasons. */
const EXPECTED_REASONS: ReadonlySet<SkippedLineReason> = new Set(['blank', 'other-message']);

/**
 * Formats a line for each reason why lines were skipped, and for each log that could not be read to its end. Lines that every log has
 * are reported only if there is no request.
 */
export function formatSkippedLines({ requests, skipped, failures }: LogCounts): string {
  const unexpected = [...skipped].filter(([reason]) => requests === 0 || !EXPECTED_REASONS.has(reason));
  const reasons = unexpected.map(([reason, { lines, source, line, member }]) => {
    const cause = member === undefined ? '' : `, in which "${member}" is invalid`;
    return `${SKIP_REASONS[reason]}: ${lines} skipped, the first at ${printable(source)}:${line}${cause}\n`;
  });
  const unread = failures.map(
    ({ source, lines, message }) => `${printable(source)}: ${message} (after line ${lines})\n`,
  );
  return [...reasons, ...unread].join('');
}
